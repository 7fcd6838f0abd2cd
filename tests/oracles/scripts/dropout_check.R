# Likelihood ratio tests and hazard ratios of dropout, from R's survival.
# Run: Rscript tests/oracles/scripts/dropout_check.R FOLDER > tests/oracles/values/dropout_check.json
# FOLDER holds gbsg.csv and whas500.csv, as tests/oracles/data.py: load(name).to_csv writes them.
# Dropouts are a half day later, as events leave the risk set before dropouts tied with them. "covariates": all together;
# "age": alone, per standard deviation (with n, not n - 1, in its denominator).
suppressMessages(library(survival))
folder <- commandArgs(trailingOnly = TRUE)[1]
numbers <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
control <- suppressWarnings(coxph.control(eps = 1e-14, iter.max = 100, toler.chol = 1e-14))
sd_n <- function(x) sqrt(mean((x - mean(x))^2))

test <- function(rows, covariates) {
  # two values: one against the other; else per standard deviation
  for (name in covariates) {
    unit <- if (length(unique(rows[[name]])) == 2) diff(range(rows[[name]])) else sd_n(rows[[name]])
    rows[[name]] <- rows[[name]] / unit
  }
  rows$time <- rows$time + 0.5 * (rows$event == 0)
  fit <- coxph(reformulate(covariates, quote(Surv(time, 1 - event))), rows, ties = "efron", control = control)
  limits <- exp(confint(fit, level = 0.9))
  paste0('{"ratios": ', numbers(exp(coef(fit))), ', "low": ', numbers(limits[, 1]), ', "high": ', numbers(limits[, 2]),
         ', "statistic": ', sprintf("%.17g", summary(fit)$logtest[["test"]]),
         ', "pvalue": ', sprintf("%.17g", summary(fit)$logtest[["pvalue"]]), "}")
}

data_set <- function(name, covariates) {
  rows <- read.csv(file.path(folder, paste0(name, ".csv")))
  paste0('"', name, '": {"columns": ["', paste(covariates, collapse = '", "'), '"],\n "covariates": ',
         test(rows, covariates), ',\n "age": ', test(rows, "age"), "}")
}

cat("{", paste0('"source": "R ', R.version$major, ".", R.version$minor, " survival ", packageVersion("survival"), '",\n'),
    data_set("gbsg", c("age", "size", "nodes", "grade", "hormon")), ",\n",
    data_set("whas500", c("age", "hr", "chf", "bmi")), "}\n")
