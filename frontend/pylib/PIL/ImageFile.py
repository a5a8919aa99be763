"""`PIL.ImageFile`: how files of images would be read."""

LOAD_TRUNCATED_IMAGES = False
