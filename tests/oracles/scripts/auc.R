# Cumulative/dynamic AUC under IPCW, its standard errors, and the difference between two models, from riskRegression.
# Run: Rscript tests/oracles/scripts/auc.R FOLDER > tests/oracles/values/auc.json
# FOLDER as for brier.R; data, predictions "a" and "b" and times as in brier_errors.R, the predictions rounded to 6 digits,
# so that what is equal does not depend on the last bit. The difference is auc(a) - auc(b).
# "tied" are the AUCs of the predictions of "a" rounded to one digit, many of which are equal.
suppressMessages({library(survival); library(prodlim); library(riskRegression)})
folder <- commandArgs(trailingOnly = TRUE)[1]

numbers <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
strings <- function(x) paste0("[", paste0('"', x, '"', collapse = ", "), "]")
object <- function(...) {
  fields <- list(...)
  paste0("{\n", paste0('"', names(fields), '": ', fields, collapse = ",\n"), "\n}")
}
objects <- function(values) do.call(object, lapply(values, numbers))

predicted <- function(rows, at, s, model) {
  hazard <- exp(s$intercept + drop(as.matrix(rows[s$covariates]) %*% s[[model]]))
  round(exp(-outer(hazard, (at / s$scale)^s$shape[[model]])), 6)
}

score <- function(rows, at, s) {
  a <- predicted(rows, at, s, "a")
  risks <- list(a = 1 - a, b = 1 - predicted(rows, at, s, "b"), tied = 1 - round(a, 1))
  # Score renames columns of its data in place
  rows <- data.frame(as.list(rows))
  found <- Score(risks, Surv(time, event) ~ 1, data = rows, times = at, metrics = "auc",
                 null.model = FALSE, se.fit = TRUE, conservative = FALSE, cens.model = "km")$AUC
  of <- function(name) found$score[found$score$model == name, ]
  delta <- found$contrasts[found$contrasts$model == "b" & found$contrasts$reference == "a", ]
  stopifnot(delta$times == at, of("a")$times == at)
  list(a = of("a")$AUC, a_se = of("a")$se, b = of("b")$AUC, b_se = of("b")$se, tied = of("tied")$AUC,
       tied_se = of("tied")$se, difference = -delta$delta.AUC, difference_se = delta$se)
}

data_set <- function(name, s, unit = 1) {
  rows <- read.csv(file.path(folder, paste0(name, ".csv")))[c(s$covariates, "time", "event")]
  rows$time <- ceiling(rows$time / unit)
  object(
    covariates = strings(s$covariates), intercept = s$intercept, scale = sprintf("%.17g", s$scale), unit = unit,
    a = numbers(s$a), b = numbers(s$b), shape = objects(s$shape), times = numbers(s$times),
    km = objects(score(rows, s$times, s))
  )
}

gbsg <- list(covariates = c("age", "size", "nodes"), intercept = 0, a = c(-0.01, 0.008, 0.06), b = c(0, 0, 0.1),
             shape = list(a = 1, b = 1.5), scale = 4000, times = c(300, 426, 753, 859, 1219, 1500))
cat(object(
  source = paste0('"R ', R.version$major, ".", R.version$minor, paste0(
    sapply(c("riskRegression", "survival", "prodlim"),
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
