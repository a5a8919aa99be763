"""Arrays as sets, places in them, and matrices of `numpy.linalg`."""

import numpy as np

a = np.array([3, 1, 2, 3])
print(np.isin(a, [1, 2]), np.isin(a, [1], invert=True), np.intersect1d(a, [2, 3, 5]), np.setdiff1d(a, [3]), np.union1d(a, [0, 9]))
print(np.append([1, 2], [[3]]), np.append(np.ones((1, 2)), [[2, 3]], axis=0), np.argwhere(np.array([[0, 1], [2, 0]])))
print([int(part) for part in np.unravel_index(7, (3, 4))], np.unravel_index(np.array([1, 11]), (3, 4)), np.ravel_multi_index(([1, 2], [3, 0]), (3, 4)))
grid = np.arange(12).reshape(3, 4)
print(grid[np.ix_([0, 2], [1, 3])], np.tril_indices(3), np.triu_indices(2, 1), np.diag_indices(2))
square = np.zeros((3, 3))
np.fill_diagonal(square, 5)
print(square, np.round(np.hanning(5), 4), np.round(np.hamming(4), 4), np.hanning(1))
m = np.array([[4.0, 1.0], [1.0, 3.0]])
print(np.round(np.linalg.inv(m), 4), np.round(np.linalg.det(m), 4), np.linalg.solve(m, np.array([1.0, 2.0])).round(4))
print(np.linalg.norm(m).round(4), np.linalg.norm(m, axis=1).round(4), np.linalg.norm(m, 1).round(4), np.linalg.norm(np.array([3, 4])))
print(np.linalg.norm(m, ord=np.inf, axis=0), np.linalg.cholesky(m).round(4), np.linalg.pinv(m[:, :1]).round(4), np.linalg.matrix_rank(m))
for wrong in (lambda: np.linalg.inv(np.ones((2, 2))), lambda: np.linalg.det(np.ones((2, 3))), lambda: np.linalg.cholesky(-m), lambda: np.unravel_index(12, (3, 4))):
    try:
        print(wrong())
    except Exception as error:
        print(type(error).__name__, error)
