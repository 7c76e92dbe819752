-- The state of steps is in the log, and nothing asks for it across runs. Its
-- rows were written with every event of a step.
DROP TABLE steps;
