# Two models, fitted and read out in R, and the files that cocensor reads.
# Run: Rscript predict_risk.R FOLDER
suppressMessages({library(survival); library(ranger); library(riskRegression)})
folder <- c(commandArgs(trailingOnly = TRUE), ".")[1]
save <- function(frame, name) write.csv(frame, file.path(folder, paste0(name, ".csv")), row.names = FALSE)

# The data: 1,200 patients. Those who die early leave early (a Clayton copula with Kendall's tau of 0.5, by a common
# gamma frailty); the data are locked while some are still under observation. With data of your own, leave this out.
set.seed(1)
n <- 1200
age <- round(rnorm(n, 65, 10))
stage <- sample(c("I", "II", "III"), n, replace = TRUE)
marker <- round(rnorm(n), 2)                                    # extremes are bad
frailty <- rgamma(n, 0.5)
latent <- function() log1p(rexp(n) / frailty) / 2                # exponential times, with theta = 2
risk <- 0.04 * (age - 65) + 0.6 * (stage == "II") + 1.2 * (stage == "III") + 0.8 * (abs(marker) - 0.8)
death <- 80 * (latent() / exp(risk))^(1 / 1.2)
dropout <- 60 * latent()
lock <- runif(n, 36, 60)
months <- ceiling(10 * pmin(death, dropout, lock)) / 10
data <- data.frame(patient = sprintf("P%04d", 1:n), age, stage, marker, months,
                   died = as.integer(death <= pmin(dropout, lock)),
                   study_ended = as.integer(lock < pmin(death, dropout)),
                   true_months = ifelse(death <= pmin(dropout, lock), months, pmax(months, ceiling(10 * death) / 10)))
train <- data[1:700, ]
test <- data[701:1200, ]

# The models, and what they predict for the test patients: predictRisk gives the chance of death by each time.
formula <- Surv(months, died) ~ age + stage + marker
cox <- coxph(formula, train, x = TRUE)
forest <- ranger(formula, train, num.trees = 200, min.node.size = 15, seed = 1, num.threads = 1)
times <- seq(3, 36, 3)
event_free <- list(cox = 1 - predictRisk(cox, newdata = test, times = times),
                   forest = 1 - predictRisk(forest, newdata = test, times = times))

# The files: a row for each patient; a column for each time, with the chance of being event-free.
save(train, "train")
save(test, "test")
for (name in names(event_free)) {
  event_free[[name]] <- round(event_free[[name]], 4)
  colnames(event_free[[name]]) <- times
  save(data.frame(patient = test$patient, event_free[[name]], check.names = FALSE), name)
}

# Without riskRegression: survfit gives the same curves of a Cox model, times in rows.
curves <- t(summary(survfit(cox, newdata = test), times = times)$surv)
stopifnot(max(abs(curves - event_free$cox)) < 1e-4)

# What R says of the same predictions at independence, to hold ours against.
at <- c(12, 24, 36)
score <- Score(lapply(event_free, function(S) 1 - S[, as.character(at)]), Surv(months, died) ~ 1, data = test,
               times = at, metrics = c("brier", "auc"), null.model = FALSE, cens.model = "km")
values <- merge(score$Brier$score[, c("model", "times", "Brier")], score$AUC$score[, c("model", "times", "AUC")])
save(format(as.data.frame(values), digits = 15), "score")
