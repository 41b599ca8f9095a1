#include <stdlib.h>
#include "matrix.h"

#define AT(m, row, column) ((m)->cells[(row) * (m)->columns + (column)])

struct matrix {
    size_t rows, columns;
    double *cells;
};

/* Returns NULL if there is no memory. */
struct matrix *matrix_new(size_t rows, size_t columns)
{
    struct matrix *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    made->rows = rows;
    made->columns = columns;
    made->cells = calloc(rows * columns, sizeof *made->cells);
    return made;
}

void matrix_multiply(const struct matrix *a, const struct matrix *b, struct matrix *out)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < b->columns; j++) {
            double sum = 0;
            for (size_t k = 0; k < a->columns; k++)
                sum += AT(a, i, k) * AT(b, k, j);
            AT(out, i, j) = sum;
        }
}
