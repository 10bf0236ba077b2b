#ifndef NORMSWEEP_DRIVER_WEIGHTS_BERT_H
#define NORMSWEEP_DRIVER_WEIGHTS_BERT_H

#include "driver/weights/family.h"

extern const struct family family_bert;
extern const struct family family_roberta;

#endif
