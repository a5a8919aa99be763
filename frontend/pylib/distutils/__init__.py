"""`distutils`, which Python has given up: its comparison of version numbers, which packages still ask for."""
