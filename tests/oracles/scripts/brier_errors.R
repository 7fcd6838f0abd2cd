# Standard errors of IPCW Brier scores, and of the difference between two models, from riskRegression.
# Run: Rscript tests/oracles/scripts/brier_errors.R FOLDER > tests/oracles/values/brier_errors.json
# FOLDER as for brier.R. Times as in the data but for gbsg_months: gbsg with its times in months of 30 days, rounded up.
#
# Predictions of two models, "a" and "b": S_i(t) = exp(-(t / scale)^shape * exp(intercept + sum_j coefficients_j *
# covariates_ij)), with the coefficients of the one or the other. The difference is score(a) - score(b).
#
# km:  found by hand and checked below on every run: se is sd(r_i + c_i) / sqrt(n), of the terms r_i of BS(t) as in
#      brier.R and of what estimating G adds,
#        c_i = int_0^t A(u) / Y(u) dM_i(u),  A(u) = sum_j 1(T_j > u) r_j,  dM_i = dN_i - 1(T_i >= u) dN / Y(u),
#      with N_i counting censorings and Y(u) = #{T_j >= u}. For a difference the terms are differences.
# cox: of rms::cph, with Efron's ties in coefficients and baseline hazard and tied events in the risk set. Where
#      censorings are tied, se is not that of the derivative of this score by the weights of the subjects, which
#      cox_jackknife has by refits with case weights (0.2 % away on gbsg, 1.4 % on whas500). Where they are not, it is:
#      cox_untied is the same with the rows sorted by the columns of "sort_by" and row i of n shifted by i / 2n, and the
#      times by a half.
suppressMessages({library(survival); library(prodlim); library(riskRegression)})
folder <- commandArgs(trailingOnly = TRUE)[1]

numbers <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
strings <- function(x) paste0("[", paste0('"', x, '"', collapse = ", "), "]")
object <- function(...) {
  fields <- list(...)
  paste0("{\n", paste0('"', names(fields), '": ', fields, collapse = ",\n"), "\n}")
}
objects <- function(values) do.call(object, lapply(values, numbers))
same <- function(x, y, tolerance) stopifnot(max(abs(x - y)) < tolerance)

predicted <- function(rows, at, s, model) {
  hazard <- exp(s$intercept + drop(as.matrix(rows[s$covariates]) %*% s[[model]]))
  exp(-outer(hazard, (at / s$scale)^s$shape[[model]]))
}

score <- function(rows, at, s, cens.model) {
  terms <- if (cens.model == "km") "1" else s$covariates
  risks <- list(a = 1 - predicted(rows, at, s, "a"), b = 1 - predicted(rows, at, s, "b"))
  # Score renames columns of its data in place
  rows <- data.frame(as.list(rows))
  found <- Score(risks, reformulate(terms, quote(Surv(time, event))), data = rows, times = at, metrics = "brier",
                 null.model = FALSE, se.fit = TRUE, conservative = FALSE, cens.model = cens.model)$Brier
  a <- found$score[found$score$model == "a", ]
  b <- found$score[found$score$model == "b", ]
  delta <- found$contrasts
  stopifnot(delta$model == "b", delta$reference == "a", delta$times == at)
  list(a = a$Brier, a_se = a$se, b = b$Brier, b_se = b$se, difference = -delta$delta.Brier, difference_se = delta$se)
}

km_by_hand <- function(rows, at, s) {
  fit <- prodlim(Hist(time, event) ~ 1, data = rows, reverse = TRUE)
  steps <- sort(unique(rows$time))
  G <- c(1, predict(fit, times = steps))
  before <- G[1 + findInterval(rows$time, steps, left.open = TRUE)]
  after <- G[1 + findInterval(at, steps)]
  se <- function(k, losses) {
    r <- ifelse(rows$time <= at[k], rows$event * losses$event[, k] / before, losses$event_free[, k] / after[k])
    censored <- rows$event == 0 & rows$time <= at[k]
    at_risk <- outer(rows$time, rows$time[censored], ">=")
    ratio <- drop(r %*% outer(rows$time, rows$time[censored], ">")) / colSums(at_risk)
    estimation <- -drop(at_risk %*% (ratio / colSums(at_risk)))
    estimation[censored] <- estimation[censored] + ratio
    sd(r + estimation) / sqrt(nrow(rows))
  }
  a <- predicted(rows, at, s, "a")
  b <- predicted(rows, at, s, "b")
  losses <- list(
    a_se = list(event = a^2, event_free = (1 - a)^2),
    b_se = list(event = b^2, event_free = (1 - b)^2),
    difference_se = list(event = a^2 - b^2, event_free = (1 - a)^2 - (1 - b)^2)
  )
  lapply(losses, function(each) sapply(seq_along(at), se, each))
}

cox_jackknife <- function(rows, at, s, step = 1e-4) {
  n <- nrow(rows)
  x <- as.matrix(rows[s$covariates])
  value <- function(weights) {
    rows$weights <- weights
    control <- coxph.control(eps = 1e-14, toler.chol = 1e-15, iter.max = 50)
    fit <- coxph(reformulate(s$covariates, quote(Surv(time, 1 - event))), rows, weights = weights, control = control)
    H <- basehaz(fit, centered = FALSE)
    risk <- exp(drop(x %*% coef(fit)))
    before <- exp(-risk * c(0, H$hazard)[1 + findInterval(rows$time, H$time, left.open = TRUE)])
    after <- exp(-outer(risk, c(0, H$hazard)[1 + findInterval(at, H$time)]))
    unlist(lapply(c(a = "a", b = "b"), function(model) {
      survival <- predicted(rows, at, s, model)
      over <- outer(rows$time, at, "<=")
      colSums(weights * ifelse(over, rows$event * survival^2 / before, (1 - survival)^2 / after)) / sum(weights)
    }))
  }
  share <- function(j, step) replace(rep(1 - step, n), j, 1 - step + n * step)
  influence <- sapply(seq_len(n), function(j) (value(share(j, step)) - value(share(j, -step))) / (2 * step))
  first <- seq_along(at)
  se <- function(values) apply(values, 1, sd) / sqrt(n)
  list(a_se = se(influence[first, ]), b_se = se(influence[-first, ]),
       difference_se = se(influence[first, ] - influence[-first, ]))
}

untied <- function(rows) {
  rows <- rows[do.call(order, rows), ]
  rows$time <- rows$time + seq_len(nrow(rows)) / (2 * nrow(rows))
  rows
}

data_set <- function(name, s, unit = 1) {
  rows <- read.csv(file.path(folder, paste0(name, ".csv")))[c(s$covariates, "time", "event")]
  rows$time <- ceiling(rows$time / unit)
  stopifnot(any(rows$time[rows$event == 1] %in% rows$time[rows$event == 0]))
  at <- s$times
  km <- score(rows, at, s, "km")
  hand <- km_by_hand(rows, at, s)
  for (part in names(hand)) same(hand[[part]], km[[part]], 1e-15)
  fields <- list(
    covariates = strings(s$covariates), intercept = s$intercept, scale = s$scale, unit = unit,
    a = numbers(s$a), b = numbers(s$b), shape = objects(s$shape), times = numbers(at), km = objects(km)
  )
  # veteran has 9 censorings among 137 rows
  if (sum(rows$event == 0) >= 20) {
    fields$sort_by <- strings(names(rows))
    fields$cox <- objects(score(rows, at, s, "cox"))
    fields$cox_untied <- objects(score(untied(rows), at + 0.5, s, "cox"))
    fields$cox_jackknife <- objects(cox_jackknife(rows, at, s))
  }
  do.call(object, fields)
}

gbsg <- list(covariates = c("age", "size", "nodes"), intercept = 0, a = c(-0.01, 0.008, 0.06), b = c(0, 0, 0.1),
             shape = list(a = 1, b = 1.5), scale = 4000, times = c(300, 426, 753, 859, 1219, 1500))
cat(object(
  source = paste0('"R ', R.version$major, ".", R.version$minor, paste0(
    sapply(c("riskRegression", "survival", "prodlim", "rms"),
           function(p) paste("", p, packageVersion(p))), collapse = ""), '"'),
  gbsg = data_set("gbsg", gbsg),
  gbsg_months = data_set("gbsg", modifyList(gbsg, list(scale = 4000 / 30, times = c(10, 20, 30, 40, 50))), unit = 30),
  whas500 = data_set("whas500", list(
    covariates = c("age", "hr", "chf"), intercept = -5, a = c(0.05, 0.01, 0.7), b = c(0.06, 0, 0),
    shape = list(a = 1, b = 0.7), scale = 2000, times = c(10, 166, 400, 497, 800, 1232))),
  veteran = data_set("veteran", list(
    covariates = c("karno", "diagtime", "age"), intercept = 2, a = c(-0.035, 0.001, -0.004), b = c(-0.03, 0, 0),
    shape = list(a = 1, b = 1.3), scale = 100, times = c(25, 60, 83, 100, 117, 231)))
), "\n")
