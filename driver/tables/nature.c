#include "driver/tables/nature.h"

#include "driver/tables/dataset_tables.h"

#include <string.h>

static enum nature nature_of_metric(enum metric metric)
{
    switch (metric) {
    case METRIC_norm_growth:
        return NATURE_RATIO;
    case METRIC_accuracy:
    case METRIC_direction_cosine:
    case METRIC_layer_direction_cosine:
    case METRIC_alignment:
    case METRIC_gradient_alignment:
    case METRIC_update_alignment:
    case METRIC_layer_alignment:
    case METRIC_layer_gradient_alignment:
    case METRIC_saturation:
    case METRIC_saturation_final:
    case METRIC_hard_saturation:
    case METRIC_hard_saturation_final:
    case METRIC_fraction_attended:
    case METRIC_share_above_one:
    case METRIC_attended_histogram:
    case METRIC_heads_histogram:
    case METRIC_growth_exponent_r2:
    case METRIC_fit_sqrt_r2:
    case METRIC_fit_linear_r2:
    case METRIC_fit_fourth_root_r2:
    case METRIC_fit_exponential_r2:
    case METRIC_fit_aligned_r2:
    case METRIC_fit_misaligned_r2:
    case METRIC_fit_adam_like_r2:
        return NATURE_SHARE;
    case METRIC_homogeneity: /* of a fresh model */
    case METRIC_homogeneity_degree:
    case METRIC_homogeneity_degree_r2:
    case METRIC_output_homogeneity_degree:
    case METRIC_output_homogeneity_degree_r2:
    case METRIC_unigram_loss: /* of the texts */
        return NATURE_OF_RUN;
    default:
        return NATURE_PLAIN;
    }
}

enum nature nature_of(const char *variable)
{
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        if (strcmp(metric_table[metric].name, variable) == 0)
            return nature_of_metric(metric);
    return NATURE_OF_RUN;
}
