# Cox models from R's survival.
# Run: Rscript tests/oracles/scripts/coxph.R FOLDER > tests/oracles/values/coxph.json
# FOLDER holds gbsg.csv and whas500.csv: the rows of scikit-survival's load_gbsg2 and load_whas500, with
#   gbsg     age, size = tsize, nodes = pnodes, grade = tgrade (I, II, III as the number 1, 2, 3),
#            hormon = horTh (yes 1, no 0), event = cens (rows in another order than in load_gbsg2)
#   whas500  age, hr, chf ("0"/"1" there), bmi, time = lenfol, event = fstat (rows in the same order)
#
# "breslow", "efron": the model of the events, with these ties. "censoring_...": of the censorings, where events
# leave the risk set before the censorings tied with them (times are whole: censorings are half a day later).
# loglik is at the optimum. baseline_breslow is the cumulative baseline hazard at x = 0, sum d_j / sum_{at risk}
# exp(x'b), with the coefficients of that fit; baseline_efron (basehaz of an Efron fit) has Efron's sum instead.
# "ridge_breslow": partial log-likelihood less theta / 2 * sum of squared coefficients, unscaled covariates;
# its loglik is the partial log-likelihood alone.
suppressMessages(library(survival))
folder <- commandArgs(trailingOnly = TRUE)[1]

numbers <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
strings <- function(x) paste0("[", paste0('"', x, '"', collapse = ", "), "]")
object <- function(...) {
  fields <- list(...)
  paste0("{\n", paste0('"', names(fields), '": ', fields, collapse = ",\n"), "\n}")
}
matrix_rows <- function(m) paste0("[", paste(apply(m, 1, numbers), collapse = ",\n"), "]")

# coxph warns that toler.chol should be below eps
control <- suppressWarnings(coxph.control(eps = 1e-14, iter.max = 100, toler.chol = 1e-14))

# the same model at given coefficients
held_at <- function(formula, rows, ties, b)
  coxph(formula, rows, ties = ties, init = b, control = coxph.control(iter.max = 0))

gradient <- function(formula, rows, ties, b)
  colSums(as.matrix(residuals(held_at(formula, rows, ties, b), type = "score")))

fitted <- function(formula, rows, ties, at) {
  fit <- coxph(formula, rows, ties = ties, control = control)
  b <- coef(fit)
  # the Newton step that is left, in standard errors
  left <- drop(vcov(fit) %*% gradient(formula, rows, ties, b)) / sqrt(diag(vcov(fit)))
  stopifnot(max(abs(left)) < 1e-10)
  baseline <- function(ties) {
    H <- basehaz(held_at(formula, rows, ties, b), centered = FALSE)
    numbers(c(0, H$hazard)[1 + findInterval(at, H$time)])
  }
  c(list(coefficients = numbers(b), variance = matrix_rows(vcov(fit)),
         loglik = sprintf("%.17g", fit$loglik[2]), baseline_breslow = baseline("breslow")),
    if (ties == "efron") list(baseline_efron = baseline("efron")))
}

ridge_fit <- function(covariates, rows, theta) {
  formula <- as.formula(paste0("Surv(time, event) ~ ridge(", paste(covariates, collapse = ", "),
                               ", theta = theta, scale = FALSE)"))
  environment(formula) <- environment()
  fit <- coxph(formula, rows, ties = "breslow", control = control)
  plain <- reformulate(covariates, quote(Surv(time, event)))
  b <- unname(coef(fit))
  left <- drop(fit$var %*% (gradient(plain, rows, "breslow", b) - theta * b)) / sqrt(diag(fit$var))
  stopifnot(max(abs(left)) < 1e-10)
  object(theta = theta, coefficients = numbers(b), variance = matrix_rows(fit$var),
         loglik = sprintf("%.17g", held_at(plain, rows, "breslow", b)$loglik[2]))
}

data_set <- function(name, covariates, theta = NULL) {
  rows <- read.csv(file.path(folder, paste0(name, ".csv")))[c(covariates, "time", "event")]
  stopifnot(rows$time == round(rows$time))
  observed <- sort(unique(rows$time))
  at <- observed[round(seq(1, length(observed), length.out = 20))]
  later <- rows
  later$time <- rows$time + 0.5 * (rows$event == 0)
  event <- reformulate(covariates, quote(Surv(time, event)))
  censoring <- reformulate(covariates, quote(Surv(time, 1 - event)))
  fields <- list(
    covariates = strings(covariates), baseline_at = numbers(at),
    breslow = do.call(object, fitted(event, rows, "breslow", at)),
    efron = do.call(object, fitted(event, rows, "efron", at)),
    censoring_breslow = do.call(object, fitted(censoring, later, "breslow", at + 0.5)),
    censoring_efron = do.call(object, fitted(censoring, later, "efron", at + 0.5))
  )
  if (!is.null(theta)) fields$ridge_breslow <- ridge_fit(covariates, rows, theta)
  do.call(object, fields)
}

cat(object(
  source = paste0('"R ', R.version$major, ".", R.version$minor, " survival ", packageVersion("survival"), '"'),
  gbsg = data_set("gbsg", c("age", "size", "nodes", "grade", "hormon"), theta = 5),
  whas500 = data_set("whas500", c("age", "hr", "chf", "bmi"))
), "\n")
