/* Models in several files, and what is refused of them and of their configuration. */
#include "tests/driver/weights/written.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#define INDEX "model.safetensors.index.json"
#define MAP(entries) "{\"metadata\": {}, \"weight_map\": {" entries "}}"
#define LLAMA_1 "model.embed_tokens.weight 3,4 0\nmodel.norm.weight 4 10\nlm_head.weight 3,4 20\n"
#define Q "model.layers.0.self_attn.q_proj.weight 4,4 100\n"
#define Q_SHORT "model.layers.0.self_attn.q_proj.weight 2,4 100\n"
#define LLAMA_REST                                                                                           \
    "model.layers.0.self_attn.k_proj.weight 4,4 200\nmodel.layers.0.self_attn.v_proj.weight 4,4 300\n"       \
    "model.layers.0.self_attn.o_proj.weight 4,4 400\nmodel.layers.0.mlp.gate_proj.weight 2,4 500\n"          \
    "model.layers.0.mlp.up_proj.weight 2,4 600\nmodel.layers.0.mlp.down_proj.weight 4,2 700\n"               \
    "model.layers.0.input_layernorm.weight 4 800\nmodel.layers.0.post_attention_layernorm.weight 4 900\n"
#define IN_2(name) ", \"model.layers.0." name ".weight\": \"b.safetensors\""
#define MAP_1                                                                                                \
    "\"model.embed_tokens.weight\": \"a.safetensors\", \"model.norm.weight\": \"a.safetensors\","            \
    " \"lm_head.weight\": \"a.safetensors\""
#define MAP_2                                                                                                \
    IN_2("self_attn.q_proj")                                                                                 \
    IN_2("self_attn.k_proj")                                                                                 \
    IN_2("self_attn.v_proj")                                                                                 \
    IN_2("self_attn.o_proj")                                                                                 \
    IN_2("mlp.gate_proj")                                                                                    \
    IN_2("mlp.up_proj") IN_2("mlp.down_proj") IN_2("input_layernorm") IN_2("post_attention_layernorm")
#define SIZES                                                                                                \
    "\"vocab_size\": 3, \"hidden_size\": 4, \"intermediate_size\": 2, \"num_hidden_layers\": 1,"             \
    " \"num_attention_heads\": 2"
#define LLAMA(rest) "{\"model_type\": \"llama\", " SIZES rest "}"

TEST(shards_together)
{
    struct error error = {.text = ""};
    struct written w;
    struct trained trained;

    written_init(&w);
    written_text(&w, "config.json", LLAMA(""));
    written_text(&w, INDEX, MAP(MAP_1 MAP_2));
    written_tensors(&w, "a.safetensors", LLAMA_1);
    written_tensors(&w, "b.safetensors", Q LLAMA_REST);
    for (int i = 0; i < 2; i++) {
        CHECK(written_open(&w, i ? INDEX : "", 0, &trained, &error) == 0);
        CHECK_TEXT(trained_name(&trained, TENSOR_W3, 0), "model.layers.0.mlp.up_proj.weight");
        trained_close(&trained);
    }
    written_release(&w);
}

/* Two files and an index; NULL: the file is not there. */
struct sharded {
    const char *index, *a, *b, *message;
};

TEST(shards_refused)
{
    static const struct sharded all[] = {
        {NULL, NULL, NULL, ": a folder without model.safetensors and without " INDEX},
        {"[", NULL, NULL, INDEX ":1:1: JSON: ']' expected near end of file"},
        {"[]", NULL, NULL, INDEX ": no weight_map, an object from tensors to files"},
        {MAP(""), NULL, NULL, INDEX ": no weight_map, an object from tensors to files"},
        {MAP("\"x\": 1"), NULL, NULL, INDEX ": weight_map: x: not the name of a file in this folder"},
        {MAP("\"x\": \"../a\""), NULL, NULL, INDEX ": weight_map: x: not the name of a file in this folder"},
        {MAP("\"x\": \"..\""), NULL, NULL, INDEX ": weight_map: x: not the name of a file in this folder"},
        {MAP(MAP_1 MAP_2), LLAMA_1, NULL, "b.safetensors: No such file or directory"},
        {MAP(MAP_1 MAP_2), LLAMA_1, LLAMA_REST,
            "b.safetensors: model.layers.0.self_attn.q_proj.weight is missing, which the index promises "
            "here"},
        {MAP(MAP_1 MAP_2), LLAMA_1 Q, Q LLAMA_REST,
            INDEX ": model.layers.0.self_attn.q_proj.weight is in a.safetensors and in b.safetensors"},
        {MAP(MAP_1 MAP_2), LLAMA_1 "x 2 0\n", Q LLAMA_REST,
            INDEX ": x is in a.safetensors and not in the index"},
        {MAP(MAP_1 MAP_2 ", \"x\": \"a.safetensors\""), LLAMA_1 "x 2 0\n", Q LLAMA_REST,
            INDEX ": a.safetensors: x: not a part of Llama or of its output; save the base_model alone"},
        {MAP(MAP_1 MAP_2), LLAMA_1, Q_SHORT LLAMA_REST,
            INDEX ": b.safetensors: model.layers.0.self_attn.q_proj.weight: shape [2, 4], not [4, 4]"},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        struct written w;
        written_init(&w);
        written_text(&w, "config.json", LLAMA(""));
        if (all[i].index)
            written_text(&w, INDEX, all[i].index);
        if (all[i].a)
            written_tensors(&w, "a.safetensors", all[i].a);
        if (all[i].b)
            written_tensors(&w, "b.safetensors", all[i].b);
        written_refused(&w, "", 0, all[i].message);
        written_release(&w);
    }
}

/* One file and a configuration. */
struct refused {
    const char *config, *tensors, *message;
};

static void check_refused(const struct refused *refused, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct written w;
        written_init(&w);
        written_text(&w, "config.json", refused[i].config);
        written_tensors(&w, "model.safetensors", refused[i].tensors);
        written_refused(&w, "", 0, refused[i].message);
        written_release(&w);
    }
}

#define CHECK_REFUSED(all) check_refused(all, sizeof(all) / sizeof(*(all)))
#define FILE_1 "model.safetensors: "
#define NO_LLAMA " is missing; expected the tensors of Llama as Hugging Face names them"

TEST(trained_refused_tensors)
{
    static const struct refused all[] = {
        {LLAMA(""), LLAMA_1 LLAMA_REST, FILE_1 "model.layers.0.self_attn.q_proj.weight" NO_LLAMA},
        {LLAMA(""), Q LLAMA_REST, FILE_1 "embed_tokens.weight" NO_LLAMA},
        {LLAMA(""), "model.embed_tokens.weight 3,4 0\nmodel.norm.weight 4 10\n" Q LLAMA_REST,
            FILE_1 "lm_head.weight is missing; if the network has another output, save its base_model"
                   " alone"},
        {LLAMA(", \"num_key_value_heads\": 1"), LLAMA_1 Q LLAMA_REST,
            FILE_1 "model.layers.0.self_attn.k_proj.weight: shape [4, 4], not [2, 4]"},
        {LLAMA(", \"tie_word_embeddings\": true"), LLAMA_1 Q LLAMA_REST,
            FILE_1 "lm_head.weight differs from model.embed_tokens.weight, but tie_word_embeddings in"
                   " config.json makes them one"},
        {LLAMA(""), LLAMA_1 Q LLAMA_REST "model.layers.1.input_layernorm.weight 4 0\n",
            FILE_1 "model.layers.1.input_layernorm.weight: block 1, but config.json has 1 layer, from 0 on"},
        {LLAMA(""), LLAMA_1 Q LLAMA_REST "model.layers.0.self_attn.q_proj.bias 4 0\n",
            FILE_1 "model.layers.0.self_attn.q_proj.bias: Llama has no such tensor"},
        {LLAMA(", \"attention_bias\": true"), LLAMA_1 Q LLAMA_REST,
            FILE_1 "model.layers.0.self_attn.q_proj.bias" NO_LLAMA},
        {LLAMA(", \"num_key_value_heads\": 3"), LLAMA_1 Q LLAMA_REST,
            FILE_1 "3 heads of keys and values do not divide the 2 heads"},
        {"{\"model_type\": \"t5\", \"vocab_size\": 3, \"d_model\": 2, \"d_kv\": 2, \"d_ff\": 3, "
         "\"num_layers\": 1,"
         " \"num_heads\": 1}",
            "shared.weight 3,2 0\n",
            FILE_1 "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight is missing; expected"
                   " the tensors of T5 as Hugging Face names them"},
    };

    CHECK_REFUSED(all);
}

TEST(trained_refused_llama)
{
    static const struct refused all[] = {
        {"{\"model_type\": \"llama\"}", LLAMA_1, "config.json: vocab_size is missing"},
        {LLAMA(", \"hidden_act\": \"relu2\""), LLAMA_1,
            "config.json: hidden_act: \"relu2\" is not gelu, gelu_python, gelu_new, gelu_pytorch_tanh, "
            "gelu_fast, silu, swish or relu"},
        {LLAMA(", \"rms_norm_eps\": -1"), LLAMA_1, "config.json: rms_norm_eps: -1 is not a number above 0"},
        {LLAMA(", \"mlp_bias\": 1"), LLAMA_1, "config.json: mlp_bias: 1 is not true or false"},
        {LLAMA(", \"head_dim\": 1"), LLAMA_1, "config.json: rotary positions need an even width of heads"},
        {LLAMA(", \"head_dim\": 99999999"), LLAMA_1,
            "config.json: head_dim: 99999999 is not a whole number up to 1048576"},
        {LLAMA(", \"partial_rotary_factor\": 0.5"), LLAMA_1,
            "config.json: partial_rotary_factor: 0.5 is not 1"},
        {LLAMA(", \"rope_scaling\": 2"), LLAMA_1, "config.json: rope_scaling: 2 is not an object"},
        {LLAMA(", \"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2}"), LLAMA_1,
            "config.json: rope_scaling: type: \"dynamic\" is not default, linear or llama3"},
        {LLAMA(", \"rope_scaling\": {\"rope_type\": \"yarn\"}"), LLAMA_1,
            "config.json: rope_scaling: rope_type: \"yarn\" is not default, linear or llama3"},
        {LLAMA(", \"rope_theta\": 1e-300"), LLAMA_1,
            "config.json: rope_theta: 1e-300 is not a number from 1 to 1e+12"},
        {LLAMA(", \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 1e-300}"), LLAMA_1,
            "config.json: rope_scaling: factor: 1e-300 is not a number from 1 to 1e+06"},
        {LLAMA(", \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8, \"low_freq_factor\": 2e-7}"),
            LLAMA_1, "config.json: rope_scaling: low_freq_factor: 2e-7 is not a number from 1e-06 to 1e+06"},
        {LLAMA(", \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8,"
               " \"original_max_position_embeddings\": 0.5}"),
            LLAMA_1,
            "config.json: rope_scaling: original_max_position_embeddings: 0.5 is not a number from 1 to "
            "2.14748e+09"},
        {"{\"model_type\": \"mistral\", " SIZES ", \"rope_scaling\": {\"type\": \"linear\", \"factor\": 2}}",
            LLAMA_1,
            "config.json: rope_scaling: {\"type\":\"linear\",\"factor\":2} is not null, which all versions "
            "of the library take alike"},
    };

    CHECK_REFUSED(all);
}

#define ENCODER(type, rest)                                                                                  \
    "{\"model_type\": \"" type "\", \"vocab_size\": 3, \"hidden_size\": 4, \"intermediate_size\": 2,"        \
    " \"num_hidden_layers\": 1, \"num_attention_heads\": 2" rest "}"
#define T5(rest)                                                                                             \
    "{\"model_type\": \"t5\", \"vocab_size\": 3, \"d_model\": 2, \"d_kv\": 2, \"d_ff\": 3, \"num_layers\": " \
    "1,"                                                                                                     \
    " \"num_heads\": 1" rest "}"
#define XLNET(rest)                                                                                          \
    "{\"model_type\": \"xlnet\", \"vocab_size\": 3, \"d_model\": 2, \"n_layer\": 1, \"n_head\": 2,"          \
    " \"d_inner\": 3" rest "}"

TEST(trained_refused_others)
{
    static const struct refused all[] = {
        {ENCODER("bert", ", \"is_decoder\": true"), "", "config.json: is_decoder: true is not false"},
        {ENCODER("bert", ", \"add_cross_attention\": true"), "",
            "config.json: add_cross_attention: true is not false"},
        {ENCODER("bert", ", \"position_embedding_type\": \"relative_key\""), "",
            "config.json: position_embedding_type: \"relative_key\" is not absolute"},
        {ENCODER("roberta", ", \"max_position_embeddings\": 2"), "",
            "config.json: max_position_embeddings: 2 is not above pad_token_id + 1"},
        {ENCODER("roberta", ", \"hidden_act\": \"relu\""), "lm_head.bias 3 0\n",
            FILE_1 "its prediction layer has gelu, but hidden_act in config.json is another activation"},
        {T5(", \"relative_attention_num_buckets\": 16"), "",
            "config.json: relative_attention_num_buckets: 16 is not 32"},
        {T5(", \"relative_attention_max_distance\": 64"), "",
            "config.json: relative_attention_max_distance: 64 is not 128"},
        {T5(", \"feed_forward_proj\": \"gated-tanh\""), "",
            "config.json: feed_forward_proj: \"gated-tanh\" is not relu, gelu, silu, gated-gelu, gated-silu "
            "or gated-relu"},
        {T5(", \"dense_act_fn\": \"tanh\""), "",
            "config.json: dense_act_fn: \"tanh\" is not gelu, gelu_python, gelu_new, gelu_pytorch_tanh, "
            "gelu_fast, silu, swish or relu"},
        {T5(", \"decoder_start_token_id\": 3"), "",
            "config.json: decoder_start_token_id: 3 is not a whole number up to 2"},
        {T5(", \"is_encoder_decoder\": false"), "", "config.json: is_encoder_decoder: false is not true"},
        {XLNET(", \"attn_type\": \"uni\""), "", "config.json: attn_type: \"uni\" is not bi"},
        {"{\"model_type\": \"xlnet\", \"vocab_size\": 3, \"d_model\": 3, \"n_layer\": 1, \"n_head\": 1,"
         " \"d_inner\": 3}",
            "", "config.json: d_model: 3 is not an even number"},
        {XLNET(", \"bi_data\": true"), "", "config.json: bi_data: true is not false"},
        {XLNET(", \"clamp_len\": 5"), "", "config.json: clamp_len: 5 is not a whole number up to 0"},
    };

    CHECK_REFUSED(all);
}

TEST(trained_heads_of_others)
{
    struct written w;

    written_init(&w);
    written_text(&w, "config.json", LLAMA(""));
    written_tensors(&w, "model.safetensors", LLAMA_1 Q LLAMA_REST);
    written_refused(&w, "", 2, FILE_1 "config.json has the number of heads of a Llama; leave out --heads");
    written_release(&w);
}
