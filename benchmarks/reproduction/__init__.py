"""From the rows of the experiments to the tables and figures of README.md."""
