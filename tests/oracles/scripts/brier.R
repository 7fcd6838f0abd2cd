# IPCW Brier scores from riskRegression and pec, of predictions that a formula gives.
# Run: Rscript tests/oracles/scripts/brier.R FOLDER > tests/oracles/values/brier.json
# FOLDER holds gbsg.csv, whas500.csv and veteran.csv: the rows of scikit-survival's load_gbsg2, load_whas500 and
# load_veterans_lung_cancer, with
#   gbsg     age, size = tsize, nodes = pnodes, event = cens (rows in another order than in load_gbsg2)
#   whas500  age, hr, chf ("0"/"1" there), time = lenfol, event = fstat (rows in the same order)
#   veteran  karno, diagtime, age, event = status (rows in the same order)
# veteran has 9 censorings among 137 rows: too few for a Cox model of a half, so only "all" and "integrated_all".
#
# Predictions: S_i(t) = exp(-(t / scale) * exp(intercept + sum_j coefficients_j * covariates_ij)).
# Rows: "all" scores the full data, with the censoring distribution G from the same data. For the others the
# rows are sorted by the columns of "sort_by", in that order, ascending; the 1st, 3rd, ... are for training,
# the 2nd, 4th, ... for testing. "test" scores the test rows with G from the test rows, "train_test" scores
# the test rows with G from the training rows (by hand: Score always takes G from the data that it scores).
#
# What riskRegression does, found by hand and checked below on every run (sums over all n rows, divided by n):
#   BS(t) = 1/n sum_i [ 1(T_i <= t, event_i) S_i(t)^2 / G_i(T_i-) + 1(T_i > t) (1 - S_i(t))^2 / G_i(t) ].
# A row with T_i = t counts as over by t: an event has the outcome "dead", a censoring has weight 0.
# G is right-continuous at t (a censoring at t is in G(t)), and the left limit at T_i.
# km:  G is prodlim's reverse Kaplan-Meier: events leave the risk set before the censorings tied with them.
#      Kaplan-Meier of 1 - event, where they stay, moves the score by up to 2e-5 here, G(T_i) for G(T_i-) by
#      7e-5, G(t-) for G(t) by 8e-4.
#      km_se is sd(r_i + c_i) / sqrt(n), of the terms r_i of BS(t) and of what estimating G adds,
#        c_i = int_0^t A(u) / Y(u) dM_i(u),  A(u) = sum_j 1(T_j > u) r_j,  dM_i = dN_i - 1(T_i >= u) dN / Y(u),
#      with N_i counting censorings and Y(u) = #{T_j >= u}: tied events are at risk here. Without c_i it is
#      km_se_fixed_weights.
# cox: G_i = exp(-H_0 exp(x_i'b)) of rms::cph(Surv(time, status == 0)): coefficients and cumulative baseline
#      hazard both with Efron's ties, and tied events, unlike with km, stay in the risk set of the censorings.
#      cph stops at eps = 1e-6, which moves the score by up to 3e-8 from that of the optimum, cox_efron.
# pec agrees with riskRegression in both. By hand, and not from a package, are also cox_breslow (Breslow's
# ties in coefficients and baseline hazard) and, with tied events out of the risk set of the censorings,
# cox_first_efron (Efron's coefficients, Breslow's baseline hazard) and cox_first_breslow.
suppressMessages({library(survival); library(prodlim); library(riskRegression); library(pec)})
folder <- commandArgs(trailingOnly = TRUE)[1]

numbers <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
strings <- function(x) paste0("[", paste0('"', x, '"', collapse = ", "), "]")
object <- function(...) {
  fields <- list(...)
  paste0("{\n", paste0('"', names(fields), '": ', fields, collapse = ",\n"), "\n}")
}
objects <- function(values) do.call(object, lapply(values, numbers))
same <- function(x, y, tolerance) stopifnot(max(abs(x - y)) < tolerance)

predicted <- function(rows, at, s) {
  hazard <- exp(s$intercept + drop(as.matrix(rows[s$covariates]) %*% s$coefficients))
  exp(-outer(hazard, at / s$scale))
}

# the score by hand, from G just before each T_i and G at the times, n x length(at)
by_hand <- function(rows, at, survival, G_before, G_at) {
  over <- outer(rows$time, at, "<=")
  colMeans(ifelse(over, rows$event * survival^2 / G_before, (1 - survival)^2 / G_at))
}

by_hand_se <- function(rows, at, survival, G_before, G_at) {
  sapply(seq_along(at), function(k) {
    r <- ifelse(rows$time <= at[k], rows$event * survival[, k]^2 / G_before, (1 - survival[, k])^2 / G_at[, k])
    censored <- rows$event == 0 & rows$time <= at[k]
    # one column per censoring, which is one jump of N
    at_risk <- outer(rows$time, rows$time[censored], ">=")
    ratio <- drop(r %*% outer(rows$time, rows$time[censored], ">")) / colSums(at_risk)
    estimation <- -drop(at_risk %*% (ratio / colSums(at_risk)))
    estimation[censored] <- estimation[censored] + ratio
    c(sd(r + estimation), sd(r)) / sqrt(nrow(rows))
  })
}

by_hand_km <- function(train, rows, at, survival, what = by_hand) {
  fit <- prodlim(Hist(time, event) ~ 1, data = train, reverse = TRUE)
  steps <- sort(unique(train$time))
  G <- c(1, predict(fit, times = steps))
  before <- G[1 + findInterval(rows$time, steps, left.open = TRUE)]
  after <- G[1 + findInterval(at, steps)]
  what(rows, at, survival, before, matrix(after, nrow(rows), length(at), byrow = TRUE))
}

# The conventions of the Cox model of censoring: ties of its coefficients, ties of its baseline hazard, and
# whether events leave before the censorings tied with them (times are whole: a half separates the two).
by_hand_cox <- function(train, rows, at, survival, s, ties, baseline = ties, events_first = FALSE,
                        eps = 1e-14) {
  half <- if (events_first) 0.5 else 0
  train$time <- train$time + half * (train$event == 0)
  formula <- reformulate(s$covariates, quote(Surv(time, 1 - event)))
  control <- coxph.control(eps = eps, iter.max = 100, toler.chol = eps / 10)
  fit <- coxph(formula, train, ties = ties, control = control)
  b <- coef(fit)
  if (baseline != ties)
    fit <- coxph(formula, train, ties = baseline, init = b, control = coxph.control(iter.max = 0))
  H <- basehaz(fit, centered = FALSE)
  risk <- exp(drop(as.matrix(rows[s$covariates]) %*% b))
  before <- c(0, H$hazard)[1 + findInterval(rows$time, H$time, left.open = TRUE)]
  after <- c(0, H$hazard)[1 + findInterval(at + half, H$time)]
  by_hand(rows, at, survival, exp(-before * risk), exp(-outer(risk, after)))
}

by_hand_all <- function(train, rows, at, s) {
  survival <- predicted(rows, at, s)
  cox <- function(...) by_hand_cox(train, rows, at, survival, s, ...)
  list(
    km = by_hand_km(train, rows, at, survival),
    cox_efron = cox("efron"),
    cox_breslow = cox("breslow"),
    cox_first_efron = cox("efron", baseline = "breslow", events_first = TRUE),
    cox_first_breslow = cox("breslow", events_first = TRUE)
  )
}

score <- function(rows, at, s, cens.model, ...) {
  terms <- if (cens.model == "km") "1" else s$covariates
  # Score renames columns of its data in place
  rows <- data.frame(as.list(rows))
  Score(list(m = 1 - predicted(rows, at, s)), reformulate(terms, quote(Surv(time, event))), data = rows,
        times = at, metrics = "brier", null.model = FALSE, se.fit = TRUE, cens.model = cens.model,
        ...)$Brier$score
}

curve <- function(rows, at, s, cens.model) {
  terms <- if (cens.model == "marginal") "1" else s$covariates
  pec(list(m = predicted(rows, c(0, at), s)), reformulate(terms, quote(Surv(time, event))), data = rows,
      times = at, exact = FALSE, cens.model = cens.model, reference = FALSE, verbose = FALSE)
}

from_packages <- function(rows, at, s) {
  km <- score(rows, at, s, "km")
  km_fixed <- score(rows, at, s, "km", conservative = TRUE)
  cox <- score(rows, at, s, "cox")
  hand <- by_hand_all(rows, rows, at, s)
  same(hand$km, km$Brier, 1e-15)
  survival <- predicted(rows, at, s)
  same(by_hand_km(rows, rows, at, survival, by_hand_se), rbind(km$se, km_fixed$se), 1e-15)
  same(by_hand_cox(rows, rows, at, survival, s, "efron", eps = 1e-6), cox$Brier, 1e-15)
  same(hand$cox_efron, cox$Brier, 3e-8)
  same(curve(rows, at, s, "marginal")$AppErr$m[-1], km$Brier, 1e-15)
  same(curve(rows, at, s, "cox")$AppErr$m[-1], cox$Brier, 1e-15)
  hand$km <- NULL
  objects(c(list(km = km$Brier, km_se = km$se, km_se_fixed_weights = km_fixed$se,
                 cox = cox$Brier, cox_se = cox$se), hand))
}

# crps: the score at the left end of each interval, times its length, over the length of [0, the last time]
integrated <- function(rows, s) {
  at <- seq(0, s$grid["to"], s$grid["by"])
  value <- lapply(c(km = "marginal", cox = "cox"), function(cens.model) {
    errors <- curve(rows, at[-1], s, cens.model)
    brier <- errors$AppErr$m
    left <- c(crps(errors, times = max(at)))
    stopifnot(identical(errors$time, at), abs(brier[1]) < 1e-15)
    same(left, mean(head(brier, -1)), 1e-15)
    object(brier = numbers(brier), crps = sprintf("%.17g", left),
           trapezoid = sprintf("%.17g", sum((head(brier, -1) + tail(brier, -1)) / 2 * diff(at)) / max(at)))
  })
  object(at = numbers(at), km = value$km, cox = value$cox)
}

data_set <- function(name, s) {
  rows <- read.csv(file.path(folder, paste0(name, ".csv")))[c(s$covariates, "time", "event")]
  stopifnot(rows$time == round(rows$time))
  sort_by <- c(s$covariates, "time", "event")
  sorted <- rows[do.call(order, rows[sort_by]), ]
  odd <- seq_len(nrow(rows)) %% 2 == 1
  limits <- quantile(rows$time[rows$event == 1], c(0.1, 0.9))
  stopifnot(s$times >= limits[1], s$times <= limits[2])
  events <- sapply(s$times, function(t) sum(rows$time == t & rows$event == 1))
  censorings <- sapply(s$times, function(t) sum(rows$time == t & rows$event == 0))
  stopifnot(any(events > 0 & censorings == 0), any(events == 0 & censorings > 0),
            any(events > 0 & censorings > 0), any(events == 0 & censorings == 0))
  halves <- if (sum(rows$event == 0) < 20) NULL else list(
    test = from_packages(sorted[!odd, ], s$times, s),
    train_test = objects(by_hand_all(sorted[odd, ], sorted[!odd, ], s$times, s))
  )
  do.call(object, c(list(
    covariates = strings(s$covariates), intercept = s$intercept, coefficients = numbers(s$coefficients),
    scale = s$scale, sort_by = strings(sort_by),
    times = numbers(s$times), events_at_times = numbers(events), censorings_at_times = numbers(censorings),
    all = from_packages(rows, s$times, s)),
    halves,
    list(integrated_all = integrated(rows, s))
  ))
}

# gbsg with its times rounded up to months, quarters and half-years: how much the ties of the Cox model matter
gbsg <- list(covariates = c("age", "size", "nodes"), intercept = 0, coefficients = c(-0.01, 0.008, 0.06),
             scale = 4000, times = c(300, 426, 753, 859, 1219, 1500), grid = c(to = 1500, by = 50))
rounded <- function(unit) {
  rows <- read.csv(file.path(folder, "gbsg.csv"))[c(gbsg$covariates, "time", "event")]
  rows$time <- ceiling(rows$time / unit)
  at <- floor(c(300, 600, 900, 1200, 1500) / unit)
  s <- replace(gbsg, "scale", gbsg$scale / unit)
  objects(list(times = at, cox = score(rows, at, s, "cox")$Brier, cox_first_efron =
    by_hand_cox(rows, rows, at, predicted(rows, at, s), s, "efron", "breslow", events_first = TRUE)))
}

cat(object(
  source = paste0('"R ', R.version$major, ".", R.version$minor, paste0(
    sapply(c("riskRegression", "pec", "survival", "prodlim", "rms"),
           function(p) paste("", p, packageVersion(p))), collapse = ""), '"'),
  gbsg = data_set("gbsg", gbsg),
  gbsg_rounded = object(`30` = rounded(30), `91` = rounded(91), `182` = rounded(182)),
  whas500 = data_set("whas500", list(
    covariates = c("age", "hr", "chf"), intercept = -5, coefficients = c(0.05, 0.01, 0.7),
    scale = 2000, times = c(10, 166, 400, 497, 800, 1232), grid = c(to = 1200, by = 40))),
  veteran = data_set("veteran", list(
    covariates = c("karno", "diagtime", "age"), intercept = 2, coefficients = c(-0.035, 0.001, -0.004),
    scale = 100, times = c(25, 60, 83, 100, 117, 231), grid = c(to = 250, by = 10)))
), "\n")
