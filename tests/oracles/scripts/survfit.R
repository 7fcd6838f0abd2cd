# Kaplan–Meier of event and of censoring from R, on data with heavy ties.
# Run: Rscript tests/oracles/scripts/survfit.R > tests/oracles/values/survfit.json
suppressMessages({library(survival); library(prodlim)})
set.seed(20260)
n <- 80
time <- pmax(1, round(rexp(n, 1 / 12)))
event <- rbinom(n, 1, 0.55)
event[which.max(time)] <- 0

numbers <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
fit <- survfit(Surv(time, event) ~ 1, conf.type = "log-log")
steps <- fit$n.event > 0
# events leave the risk set before the censorings that they are tied with
reverse <- prodlim(Hist(time, event) ~ 1, data = data.frame(time, event), reverse = TRUE)
at <- sort(unique(time))
rmean <- summary(fit, rmean = 20)$table
cat("{\n")
cat('"source": "R', paste(R.version$major, R.version$minor, sep = "."),
    "survival", as.character(packageVersion("survival")),
    "prodlim", as.character(packageVersion("prodlim")), '",\n')
cat('"time":', numbers(time), ',\n"event":', numbers(event), ',\n')
cat('"at":', numbers(fit$time[steps]), ',\n"survival":', numbers(fit$surv[steps]), ',\n')
# survfit keeps the standard error of log S
cat('"std_error":', numbers((fit$surv * fit$std.err)[steps]), ',\n')
cat('"lower":', numbers(fit$lower[steps]), ',\n"upper":', numbers(fit$upper[steps]), ',\n')
cat('"median":', numbers(unname(quantile(fit, 0.5)$quantile)), ',\n')
cat('"rmean_20":', numbers(rmean["rmean"]), ',\n"se_rmean_20":', numbers(rmean["se(rmean)"]), ',\n')
cat('"censoring_at":', numbers(at), ',\n"censoring_survival":',
    numbers(predict(reverse, times = at)), "\n}\n")
