# Concordance of the Cox model's predictions in examples/from_r, from survival and pec, and IPA from riskRegression.
# Run: Rscript tests/oracles/scripts/concordance.R examples/from_r > tests/oracles/values/concordance.json
# The risk is that by 36 months. "harrell" takes the times as they are. For "uno" and "pec", which treat ties in their own ways, the
# k-th row is moved by k / 100000 months, so that no two times are tied; both end at 36 months. IPA is against Kaplan-Meier.
# "weighted" is as "uno", where the k-th row has the case weight 1 + k modulo 3; "weighted_events" takes all rows for
# events, with its robust variance by rows, and by clusters of the rows with one k modulo 40.
suppressMessages({library(survival); library(prodlim); library(riskRegression); library(pec)})
folder <- commandArgs(trailingOnly = TRUE)[1]
test <- read.csv(file.path(folder, "test.csv"))
event_free <- as.matrix(read.csv(file.path(folder, "cox.csv"), check.names = FALSE)[, -1])
at <- c(12, 24, 36)
risk <- 1 - event_free[, "36"]
untied <- transform(test, months = months + seq_along(months) / 1e5)

harrell <- concordance(Surv(months, died) ~ risk, test, reverse = TRUE)$concordance
uno <- concordance(Surv(months, died) ~ risk, untied, reverse = TRUE, timewt = "n/G2", ymax = 36)$concordance
untied$w <- 1 + seq_along(untied$months) %% 3
untied$cluster <- seq_along(untied$months) %% 40
weighted <- concordance(Surv(months, died) ~ risk, untied, weights = w, reverse = TRUE, timewt = "n/G2", ymax = 36)
events <- concordance(Surv(months) ~ risk, untied, weights = w, reverse = TRUE)
clustered <- concordance(Surv(months) ~ risk, untied, weights = w, reverse = TRUE, cluster = cluster)
pec <- cindex(list(m = event_free[, "36", drop = FALSE]), Surv(months, died) ~ 1, data = untied, eval.times = 36,
              cens.model = "marginal", verbose = FALSE)$AppCindex$m
score <- Score(list(cox = 1 - event_free[, as.character(at)]), Surv(months, died) ~ 1, data = test, times = at,
               metrics = "brier", summary = "ipa", cens.model = "km")$Brier$score
ipa <- score$IPA[score$model == "cox"]
numbers <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
versions <- sapply(c("survival", "pec", "riskRegression"), function(p) paste("", p, packageVersion(p)))
cat(sprintf('{\n"source": "R %s.%s%s",\n"harrell": %.17g,\n"uno": %.17g,\n"pec": %.17g,\n"weighted": %.17g,\n"weighted_events": %s,\n"at": %s,\n"ipa": %s\n}\n',
            R.version$major, R.version$minor, paste0(versions, collapse = ""), harrell, uno, pec, weighted$concordance,
            numbers(c(events$concordance, events$var, clustered$var)), numbers(at), numbers(ipa)))
