# Kaplan-Meier and Cox models with case weights, from R's survival.
# Run: Rscript tests/oracles/scripts/weights.R FOLDER > tests/oracles/values/weights.json
# FOLDER holds gbsg.csv and whas500.csv, as for coxph.R. The weight of a row is (1 + age modulo 5) / 3.
# baseline_breslow is the cumulative baseline hazard at x = 0 of the Breslow fit. Standard errors are those of case
# weights (robust = FALSE).
suppressMessages(library(survival))
folder <- commandArgs(trailingOnly = TRUE)[1]

numbers <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
object <- function(...) {
  fields <- list(...)
  paste0("{\n", paste0('"', names(fields), '": ', fields, collapse = ",\n"), "\n}")
}
matrix_rows <- function(m) paste0("[", paste(apply(m, 1, numbers), collapse = ",\n"), "]")
# coxph warns that toler.chol should be below eps
control <- suppressWarnings(coxph.control(eps = 1e-14, iter.max = 100, toler.chol = 1e-14))

of_data <- function(name, covariates, at) {
  rows <- read.csv(file.path(folder, paste0(name, ".csv")))
  rows$event <- as.integer(as.logical(rows$event))
  rows$w <- (1 + rows$age %% 5) / 3
  formula <- reformulate(covariates, quote(Surv(time, event)))
  cox <- function(ties) {
    fit <- coxph(formula, rows, weights = w, ties = ties, robust = FALSE, control = control)
    H <- basehaz(fit, centered = FALSE)
    c(list(coefficients = numbers(coef(fit)), variance = matrix_rows(vcov(fit)),
           loglik = sprintf("%.17g", fit$loglik[2])),
      if (ties == "breslow") list(baseline_breslow = numbers(c(0, H$hazard)[1 + findInterval(at, H$time)])))
  }
  km <- summary(survfit(Surv(time, event) ~ 1, rows, weights = w, robust = FALSE, conf.type = "log-log"), times = at)
  object(covariates = paste0("[", paste0('"', covariates, '"', collapse = ", "), "]"), at = numbers(at),
         efron = do.call(object, cox("efron")), breslow = do.call(object, cox("breslow")),
         survival = numbers(km$surv), std_error = numbers(km$std.err),
         lower = numbers(km$lower), upper = numbers(km$upper))
}

cat(object(source = paste0('"R ', R.version$major, ".", R.version$minor, ", survival ",
                           packageVersion("survival"), '"'),
           gbsg = of_data("gbsg", c("age", "size", "nodes", "grade", "hormon"), c(200, 700, 1500)),
           whas500 = of_data("whas500", c("age", "hr", "chf", "bmi"), c(10, 400, 1500))), "\n")
