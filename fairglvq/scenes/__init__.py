"""From settings to a trained picture: points, trainings, planes, and what the stage draws."""
