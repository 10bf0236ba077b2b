/* Networks of each family, tensor by tensor: how they are stored is written here by hand. */
#include "driver/weights/trained.h"

#include "tests/driver/weights/written.h"
#include "tests/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ---- */

void written_init(struct written *written)
{
    strcpy(written->folder, "/tmp/normsweep-weights-XXXXXX");
    CHECK(mkdtemp(written->folder) != NULL);
}

static void path_of(const struct written *written, const char *name, char path[128])
{
    snprintf(path, 128, "%s%s%s", written->folder, *name ? "/" : "", name);
}

void written_release(const struct written *written)
{
    char path[128];
    DIR *folder = opendir(written->folder);

    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof(path), "%s/%.60s", written->folder, entry->d_name);
            unlink(path);
        }
    if (folder)
        closedir(folder);
    CHECK(rmdir(written->folder) == 0);
}

static FILE *create(const struct written *written, const char *name)
{
    char path[128];

    path_of(written, name, path);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    return file;
}

void written_text(const struct written *written, const char *name, const char *text)
{
    FILE *file = create(written, name);

    fputs(text, file);
    fclose(file);
}

/* The elements of a shape "2,3". */
static int count_of(const char *shape)
{
    int count = 1;

    for (const char *at = shape; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        count *= atoi(at);
    return count;
}

void written_tensors(const struct written *written, const char *name, const char *tensors)
{
    FILE *file = create(written, name);
    char *header = NULL, tensor[80], shape[16];
    size_t length = 0;
    int offset = 0, first;
    FILE *memory = open_memstream(&header, &length);

    fputs("{", memory);
    for (const char *line = tensors; sscanf(line, "%79s %15s %d", tensor, shape, &first) == 3;
         line = strchr(line, '\n') + 1) {
        fprintf(memory, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%d,%d]}",
            offset ? "," : "", tensor, shape, offset, offset + 4 * count_of(shape));
        offset += 4 * count_of(shape);
    }
    fputs("}", memory);
    fclose(memory);
    for (int i = 0; i < 8; i++)
        fputc((int)(length >> 8 * i & 255), file);
    fwrite(header, 1, length, file);
    for (const char *line = tensors; sscanf(line, "%79s %15s %d", tensor, shape, &first) == 3;
         line = strchr(line, '\n') + 1)
        for (int i = 0; i < count_of(shape); i++)
            fwrite(&(float){(float)(first + i)}, 4, 1, file);
    fclose(file);
    free(header);
}

int written_open(const struct written *written, const char *name, int64_t heads, struct trained *trained,
    struct error *error)
{
    char path[128];

    path_of(written, name, path);
    return trained_open(trained, path, heads, error);
}

void written_refused(const struct written *written, const char *name, int64_t heads, const char *message)
{
    size_t length = strlen(written->folder);
    struct error error = {.text = ""};
    struct trained trained;
    char *found;

    if (written_open(written, name, heads, &trained, &error) == 0) {
        test_fail(__FILE__, __LINE__, "accepted instead of: %s", message);
        trained_close(&trained);
        return;
    }
    CHECK(error.status == ERROR_INPUT);
    while ((found = strstr(error.text, written->folder)))
        memmove(found, found + length + (found[length] == '/'),
            strlen(found + length + (found[length] == '/')) + 1);
    CHECK_TEXT(error.text, message);
}

/* ---- what is read ---- */

/* A model with all its weights. */
struct opened {
    struct written written;
    struct trained trained;
    struct weight_layout layout;
    struct arena arena;
    scalar *weights;
};

static void take_plane(struct opened *o, struct arena *arena)
{
    weight_layout_init(&o->layout, &o->trained.architecture, arena);
    o->weights = arena_plane(arena, 1, o->layout.size);
}

static bool open_written(struct opened *o, const char *config, const char *tensors)
{
    struct error error = {.text = ""};
    struct arena counted = {0};

    *o = (struct opened){.weights = NULL};
    written_init(&o->written);
    written_text(&o->written, "config.json", config);
    written_tensors(&o->written, "model.safetensors", tensors);
    if (written_open(&o->written, "", 0, &o->trained, &error) < 0) {
        test_fail(__FILE__, __LINE__, "%s", error.text);
        written_release(&o->written);
        return false;
    }
    take_plane(o, &counted);
    CHECK(arena_init(&o->arena, counted.used) == 0);
    take_plane(o, &o->arena);
    struct weight_source source = trained_source(&o->trained);
    for (int64_t layer = -1; layer < architecture_blocks(&o->trained.architecture); layer++)
        source.load(source.context, &o->layout, layer, o->weights);
    return true;
}

static void close_written(struct opened *o)
{
    arena_release(&o->arena);
    trained_close(&o->trained);
    written_release(&o->written);
}

/* Checks name and elements of a tensor; values: "1 2 3". */
static void check_tensor(
    const struct opened *o, enum tensor_kind kind, int64_t layer, const char *name, const char *values)
{
    const struct tensor *tensor = &o->layout.tensor[tensor_index(&o->trained.architecture, kind, layer)];
    char found[512] = "";
    size_t used = 0;

    for (int64_t i = 0; i < tensor->size && used < sizeof(found); i++)
        used += (size_t)snprintf(
            found + used, sizeof(found) - used, "%s%g", i ? " " : "", (double)o->weights[tensor->offset + i]);
    CHECK_TEXT(trained_name(&o->trained, kind, layer), name);
    CHECK_TEXT(found, values);
}

#define GPT2(prefix)                                                                                         \
    prefix "wte.weight 3,2 0\n" prefix "wpe.weight 4,2 10\n" prefix "ln_f.weight 2 20\n" prefix              \
           "ln_f.bias 2 30\n" prefix "h.0.ln_1.weight 2 40\n" prefix "h.0.ln_1.bias 2 50\n" prefix           \
           "h.0.ln_2.weight 2 60\n" prefix "h.0.ln_2.bias 2 70\n" prefix                                     \
           "h.0.attn.c_attn.weight 2,6 100\n" prefix "h.0.attn.c_attn.bias 6 200\n" prefix                   \
           "h.0.attn.c_proj.weight 2,2 300\n" prefix "h.0.attn.c_proj.bias 2 400\n" prefix                   \
           "h.0.mlp.c_fc.weight 2,3 500\n" prefix "h.0.mlp.c_fc.bias 3 600\n" prefix                         \
           "h.0.mlp.c_proj.weight 3,2 700\n" prefix "h.0.mlp.c_proj.bias 2 800\n"

TEST(trained_gpt2)
{
    struct opened o;

    if (!open_written(&o,
            "{\"model_type\": \"gpt2\", \"n_head\": 2, \"layer_norm_epsilon\": 0.5,"
            " \"scale_attn_weights\": false, \"activation_function\": \"silu\"}",
            GPT2("transformer.") "transformer.h.0.attn.bias 1,1,4,4 0\n"
                                 "lm_head.weight 3,2 0\n"))
        return;
    const struct architecture *a = &o.trained.architecture;
    CHECK(a->vocabulary == 3 && a->context == 4 && a->width == 2 && a->feedforward == 3 && a->layers == 1);
    CHECK(a->heads == 2 && a->tied && o.trained.has_output && o.trained.heads_known);
    CHECK(a->norm_epsilon == 0.5 && a->score_scale == SCORE_NONE && a->activation == ACTIVATION_SILU);
    CHECK(!(a->biases & BIAS_OUTPUT));
    check_tensor(&o, TENSOR_Q, 0, "transformer.h.0.attn.c_attn.weight", "100 106 101 107");
    check_tensor(&o, TENSOR_K, 0, "transformer.h.0.attn.c_attn.weight", "102 108 103 109");
    check_tensor(&o, TENSOR_V_BIAS, 0, "transformer.h.0.attn.c_attn.bias", "204 205");
    check_tensor(&o, TENSOR_W1, 0, "transformer.h.0.mlp.c_fc.weight", "500 503 501 504 502 505");
    check_tensor(&o, TENSOR_W2, 0, "transformer.h.0.mlp.c_proj.weight", "700 702 704 701 703 705");
    check_tensor(&o, TENSOR_POSITION, -1, "transformer.wpe.weight", "10 11 12 13 14 15 16 17");
    check_tensor(&o, TENSOR_FINAL_BIAS, -1, "transformer.ln_f.bias", "30 31");
    close_written(&o);
}

TEST(trained_gpt2_untied)
{
    struct opened o;

    if (!open_written(
            &o, "{\"n_head\": 1, \"tie_word_embeddings\": false}", GPT2("") "lm_head.weight 3,2 1\n"))
        return;
    CHECK(!o.trained.architecture.tied && o.trained.has_output);
    check_tensor(&o, TENSOR_OUTPUT, -1, "lm_head.weight", "1 2 3 4 5 6");
    close_written(&o);
}

#define LLAMA_CONFIG                                                                                         \
    "\"vocab_size\": 3, \"hidden_size\": 3, \"intermediate_size\": 2, \"num_hidden_layers\": 1,"             \
    " \"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"head_dim\": 2"
#define LLAMA                                                                                                \
    "model.embed_tokens.weight 3,3 0\nmodel.norm.weight 3 10\nlm_head.weight 3,3 20\n"                       \
    "model.layers.0.self_attn.q_proj.weight 4,3 100\nmodel.layers.0.self_attn.k_proj.weight 2,3 200\n"       \
    "model.layers.0.self_attn.v_proj.weight 2,3 300\nmodel.layers.0.self_attn.o_proj.weight 3,4 400\n"       \
    "model.layers.0.mlp.gate_proj.weight 2,3 500\nmodel.layers.0.mlp.up_proj.weight 2,3 600\n"               \
    "model.layers.0.mlp.down_proj.weight 3,2 700\n"
#define LLAMA_NORMS                                                                                          \
    "model.layers.0.input_layernorm.weight 3 800\nmodel.layers.0.post_attention_layernorm.weight 3 900\n"

TEST(trained_llama)
{
    struct opened o;

    if (!open_written(&o,
            "{\"model_type\": \"llama\", " LLAMA_CONFIG ", \"rope_theta\": 500000, \"rope_scaling\":"
            " {\"rope_type\": \"llama3\", \"factor\": 8, \"low_freq_factor\": 1, \"high_freq_factor\": 4,"
            " \"original_max_position_embeddings\": 8192}}",
            LLAMA LLAMA_NORMS "model.layers.0.self_attn.rotary_emb.inv_freq 1 1\n"))
        return;
    const struct architecture *a = &o.trained.architecture;
    CHECK(a->kv_heads == 1 && a->head_width == 2 && a->context == 2048 && !a->tied && o.trained.has_output);
    CHECK(a->norm == RMSNORM && a->norm_epsilon == 1e-6 && a->gated && a->activation == ACTIVATION_SILU);
    CHECK(a->rotary_base == 500000 && a->rotary_scaling.factor == 8 && a->rotary_scaling.low == 1 &&
          a->rotary_scaling.high == 4 && a->rotary_scaling.context == 8192);
    check_tensor(&o, TENSOR_K, 0, "model.layers.0.self_attn.k_proj.weight", "200 201 202 203 204 205");
    check_tensor(&o, TENSOR_W1, 0, "model.layers.0.mlp.gate_proj.weight", "500 501 502 503 504 505");
    check_tensor(&o, TENSOR_W3, 0, "model.layers.0.mlp.up_proj.weight", "600 601 602 603 604 605");
    check_tensor(&o, TENSOR_LN2, 0, "model.layers.0.post_attention_layernorm.weight", "900 901 902");
    check_tensor(&o, TENSOR_OUTPUT, -1, "lm_head.weight", "20 21 22 23 24 25 26 27 28");
    close_written(&o);
}

TEST(trained_mistral)
{
    struct opened o;

    if (!open_written(
            &o, "{\"model_type\": \"mistral\", " LLAMA_CONFIG ", \"sliding_window\": 5}", LLAMA LLAMA_NORMS))
        return;
    CHECK(o.trained.architecture.context == 5 && o.trained.architecture.biases == 0);
    close_written(&o);
    if (!open_written(&o, "{\"model_type\": \"mistral\", " LLAMA_CONFIG ", \"sliding_window\": null}",
            LLAMA LLAMA_NORMS))
        return;
    CHECK(o.trained.architecture.context == 131072);
    close_written(&o);
}

TEST(trained_qwen2)
{
    struct opened o;

    if (!open_written(&o, "{\"model_type\": \"qwen2\", " LLAMA_CONFIG "}",
            LLAMA LLAMA_NORMS
            "model.layers.0.self_attn.q_proj.bias 4 1\nmodel.layers.0.self_attn.k_proj.bias 2 5\n"
            "model.layers.0.self_attn.v_proj.bias 2 7\n"))
        return;
    CHECK(o.trained.architecture.context == 32768 && o.trained.architecture.biases == BIAS_QKV);
    check_tensor(&o, TENSOR_K_BIAS, 0, "model.layers.0.self_attn.k_proj.bias", "5 6");
    close_written(&o);
}

TEST(trained_olmo2)
{
    struct opened o;

    if (!open_written(&o, "{\"model_type\": \"olmo2\", " LLAMA_CONFIG "}",
            LLAMA "model.layers.0.self_attn.q_norm.weight 4 1\nmodel.layers.0.self_attn.k_norm.weight 2 5\n"
                  "model.layers.0.post_attention_layernorm.weight 3 800\n"
                  "model.layers.0.post_feedforward_layernorm.weight 3 900\n"))
        return;
    const struct architecture *a = &o.trained.architecture;
    CHECK(a->norm_placement == NORM_OUT && a->final_norm && a->qk_norm == QK_NORM_TOGETHER);
    check_tensor(&o, TENSOR_Q_NORM, 0, "model.layers.0.self_attn.q_norm.weight", "1 2 3 4");
    check_tensor(&o, TENSOR_LN1, 0, "model.layers.0.post_attention_layernorm.weight", "800 801 802");
    close_written(&o);
}

#define ENCODER_CONFIG                                                                                       \
    "\"vocab_size\": 3, \"hidden_size\": 2, \"intermediate_size\": 3, \"num_hidden_layers\": 1,"             \
    " \"num_attention_heads\": 2, \"max_position_embeddings\": 5"
#define L0 "encoder.layer.0."
#define ENCODER(norm, gain, shift)                                                                           \
    "embeddings.word_embeddings.weight 3,2 0\nembeddings.position_embeddings.weight 5,2 10\n"                \
    "embeddings.token_type_embeddings.weight 2,2 20\nembeddings." norm "." gain " 2 30\n"                    \
    "embeddings." norm "." shift " 2 40\n" L0 "attention.self.query.weight 2,2 100\n" L0                     \
    "attention.self.query.bias 2 110\n" L0 "attention.self.key.weight 2,2 120\n" L0                          \
    "attention.self.key.bias 2 130\n" L0 "attention.self.value.weight 2,2 140\n" L0                          \
    "attention.self.value.bias 2 150\n" L0 "attention.output.dense.weight 2,2 160\n" L0                      \
    "attention.output.dense.bias 2 170\n" L0 "attention.output." norm "." gain " 2 180\n" L0                 \
    "attention.output." norm "." shift " 2 190\n" L0 "intermediate.dense.weight 3,2 200\n" L0                \
    "intermediate.dense.bias 3 210\n" L0 "output.dense.weight 2,3 220\n" L0 "output.dense.bias 2 230\n" L0   \
    "output." norm "." gain " 2 240\n" L0 "output." norm "." shift " 2 250\n"

/* A base model, with the names of the first files. */
TEST(trained_bert)
{
    struct opened o;

    if (!open_written(&o, "{\"model_type\": \"bert\", " ENCODER_CONFIG "}",
            ENCODER("LayerNorm", "gamma", "beta") "pooler.dense.weight 2,2 0\npooler.dense.bias 2 0\n"
                                                  "cls.seq_relationship.weight 2,2 0\n"))
        return;
    const struct architecture *a = &o.trained.architecture;
    CHECK(a->network == NETWORK_ENCODER && a->norm_placement == NORM_POST && a->norm_epsilon == 1e-12);
    CHECK(a->token_types == 2 && a->embedding_norm && a->context == 5 && a->activation == ACTIVATION_GELU);
    CHECK(!o.trained.has_output && a->tied && !a->transform && !(a->biases & BIAS_OUTPUT));
    check_tensor(&o, TENSOR_TYPE, -1, "embeddings.token_type_embeddings.weight", "20 21 22 23");
    check_tensor(&o, TENSOR_EMBEDDING_NORM_BIAS, -1, "embeddings.LayerNorm.beta", "40 41");
    check_tensor(&o, TENSOR_LN2, 0, "encoder.layer.0.output.LayerNorm.gamma", "240 241");
    close_written(&o);
}

/* Positions begin behind the padding token. */
TEST(trained_roberta)
{
    struct opened o;

    if (!open_written(&o, "{\"model_type\": \"roberta\", " ENCODER_CONFIG "}",
            ENCODER("LayerNorm", "weight",
                "bias") "lm_head.dense.weight 2,2 300\nlm_head.dense.bias 2 310\n"
                        "lm_head.layer_norm.weight 2 320\nlm_head.layer_norm.bias 2 330\n"
                        "lm_head.bias 3 340\nlm_head.decoder.weight 3,2 0\n"
                        "lm_head.decoder.bias 3 340\n"))
        return;
    const struct architecture *a = &o.trained.architecture;
    CHECK(a->context == 3 && o.trained.has_output && a->tied && a->transform && a->biases == BIAS_ALL);
    check_tensor(&o, TENSOR_POSITION, -1, "embeddings.position_embeddings.weight", "14 15 16 17 18 19");
    check_tensor(&o, TENSOR_TRANSFORM_NORM_BIAS, -1, "lm_head.layer_norm.bias", "330 331");
    check_tensor(&o, TENSOR_OUTPUT_BIAS, -1, "lm_head.bias", "340 341 342");
    close_written(&o);
}

#define ATTENTION(block, number, name)                                                                       \
    block number "." name ".q.weight 2,2 100\n" block number "." name ".k.weight 2,2 110\n" block number     \
                 "." name ".v.weight 2,2 120\n" block number "." name ".o.weight 2,2 130\n" block number     \
                 ".layer_norm.weight 2 140\n"
#define FEEDFORWARD(block, number)                                                                           \
    block number ".DenseReluDense.wi_0.weight 3,2 200\n" block number                                        \
                 ".DenseReluDense.wi_1.weight 3,2 210\n" block number                                        \
                 ".DenseReluDense.wo.weight 2,3 220\n" block number ".layer_norm.weight 2 230\n"
#define T5                                                                                                   \
    "shared.weight 3,2 0\nencoder.embed_tokens.weight 3,2 0\nencoder.final_layer_norm.weight 2 10\n"         \
    "decoder.final_layer_norm.weight 2 20\n"                                                                 \
    "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight 32,1 1000\n"                       \
    "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight 32,1 2000\n" ATTENTION(            \
        "encoder.block.0.layer.", "0", "SelfAttention") FEEDFORWARD("encoder.block.0.layer.", "1")           \
        ATTENTION("decoder.block.0.layer.", "0", "SelfAttention")                                            \
            ATTENTION("decoder.block.0.layer.", "1", "EncDecAttention")                                      \
                FEEDFORWARD("decoder.block.0.layer.", "2")

TEST(trained_t5)
{
    struct opened o;

    if (!open_written(&o,
            "{\"model_type\": \"t5\", \"vocab_size\": 3, \"d_model\": 2, \"d_kv\": 2, \"d_ff\": 3, "
            "\"num_layers\": 1,"
            " \"num_heads\": 1, \"feed_forward_proj\": \"gated-gelu\", \"decoder_start_token_id\": 0,"
            " \"eos_token_id\": 2}",
            T5))
        return;
    const struct architecture *a = &o.trained.architecture;
    CHECK(a->network == NETWORK_ENCODER_DECODER && a->gated && a->activation == ACTIVATION_GELU_TANH);
    CHECK(a->score_scale == SCORE_NONE && a->biases == 0 && a->tied && o.trained.has_output);
    CHECK_CLOSE(a->output_scale, sqrt(0.5), 1e-15);
    CHECK(o.trained.special.start == 0 && o.trained.special.end == 2);
    check_tensor(
        &o, TENSOR_CROSS_K, 1, "decoder.block.0.layer.1.EncDecAttention.k.weight", "110 111 112 113");
    check_tensor(
        &o, TENSOR_W3, 0, "encoder.block.0.layer.1.DenseReluDense.wi_1.weight", "210 211 212 213 214 215");
    check_tensor(
        &o, TENSOR_W2, 1, "decoder.block.0.layer.2.DenseReluDense.wo.weight", "220 221 222 223 224 225");
    check_tensor(&o, TENSOR_ENCODER_FINAL, -1, "encoder.final_layer_norm.weight", "10 11");
    CHECK(o.weights[o.layout.tensor[TENSOR_RELATIVE].offset] == 2000);
    CHECK(o.weights[o.layout.tensor[TENSOR_ENCODER_RELATIVE].offset + 31] == 1031);
    close_written(&o);
}

#define XLNET_LAYER(name, rest) "transformer.layer.0." name " " rest "\n"
#define XLNET                                                                                                \
    "transformer.word_embedding.weight 3,2 0\ntransformer.mask_emb 1,1,2 0\nlm_loss.weight 3,2 7\n"          \
    "lm_loss.bias 3 0\n" XLNET_LAYER("rel_attn.q", "2,2,1 100") XLNET_LAYER("rel_attn.k", "2,2,1 110")       \
        XLNET_LAYER("rel_attn.v", "2,2,1 120") XLNET_LAYER("rel_attn.o", "2,2,1 130")                        \
            XLNET_LAYER("rel_attn.r", "2,2,1 140") XLNET_LAYER("rel_attn.r_w_bias", "2,1 150")               \
                XLNET_LAYER("rel_attn.r_r_bias", "2,1 160") XLNET_LAYER("rel_attn.r_s_bias", "2,1 170")      \
                    XLNET_LAYER("rel_attn.seg_embed", "2,2,1 180") XLNET_LAYER("rel_attn.layer_norm.weight", \
                        "2 190") XLNET_LAYER("rel_attn.layer_norm.bias", "2 200")                            \
                        XLNET_LAYER("ff.layer_1.weight", "3,2 210") XLNET_LAYER("ff.layer_1.bias", "3 220")  \
                            XLNET_LAYER("ff.layer_2.weight", "2,3 230")                                      \
                                XLNET_LAYER("ff.layer_2.bias", "2 240")                                      \
                                    XLNET_LAYER("ff.layer_norm.weight", "2 250")                             \
                                        XLNET_LAYER("ff.layer_norm.bias", "2 260")

TEST(trained_xlnet)
{
    struct opened o;

    if (!open_written(&o,
            "{\"model_type\": \"xlnet\", \"vocab_size\": 3, \"d_model\": 2, \"n_layer\": 1, \"n_head\": 2,"
            " \"d_inner\": 3, \"untie_r\": false, \"mem_len\": 9}",
            XLNET))
        return;
    const struct architecture *a = &o.trained.architecture;
    CHECK(a->network == NETWORK_ENCODER && a->positions == POSITIONS_DISTANCE && !o.trained.has_output);
    CHECK(a->biases == (BIAS_FEEDFORWARD | BIAS_NORM) && a->context == INT32_MAX);
    check_tensor(&o, TENSOR_Q, 0, "transformer.layer.0.rel_attn.q", "100 102 101 103");
    check_tensor(&o, TENSOR_O, 0, "transformer.layer.0.rel_attn.o", "130 131 132 133");
    check_tensor(&o, TENSOR_DISTANCE, 0, "transformer.layer.0.rel_attn.r", "140 142 141 143");
    check_tensor(&o, TENSOR_CONTENT_BIAS, 0, "transformer.layer.0.rel_attn.r_w_bias", "150 151");
    close_written(&o);
}
