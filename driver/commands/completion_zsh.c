/* The script for zsh: a file of its function path, or to be evaluated. Descriptions are those of help. */
#include "driver/commands/completion.h"

#include "driver/commands/commands.h"
#include "driver/commands/completion_zsh.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 1024 };

/*         'layers:number of transformer blocks L' */
static void print_described(void *context, const char *name, const char *help)
{
    char text[TEXT_SIZE];

    (void)context;
    snprintf(text, sizeof(text), "%s:%s", name, help);
    printf("        ");
    completion_quote(text);
    printf("\n");
}

/* _normsweep_keys() describes the names of a list; its arguments are compadd's. */
static void print_lists(void)
{
    for (int i = 0; i < COMPLETION_LISTS; i++) {
        const struct completion_list *list = &completion_lists[i];
        printf("\n_normsweep_%s() {\n    local -a names=(\n", list->name);
        list->each(print_described, NULL);
        printf("    )\n    _describe -t %s '%s' names \"$@\"\n}\n", list->name, list->placeholder);
    }
}

static void print_values_of(void *context, const char *name, const char *words)
{
    (void)context;
    printf("    %s) choices=(%s) ;;\n", name, words);
}

static void print_values(void)
{
    printf("\n_normsweep_values_of() {\n    case $1 in\n");
    completion_values(print_values_of, NULL);
    printf("    esac\n}\n");
}

/* The action of a placeholder, within single quotes: " _normsweep_set", " _alternative ..." or nothing. */
static void print_action(const char *placeholders)
{
    const char *rest = placeholders;
    struct completion wanted;

    if (!completion_next(&rest, &wanted) || wanted.kind == COMPLETION_NOTHING) {
        putchar(' ');
    } else if (wanted.kind == COMPLETION_FILE) {
        printf(wanted.length > 0 ? "_files -g \"*.%.*s(-.)\"" : "_files%.*s", wanted.length, wanted.detail);
    } else if (wanted.kind == COMPLETION_PAIRS) {
        printf(" _normsweep_%.*s", wanted.length, wanted.detail);
    } else {
        printf("_normsweep_any");
        while (completion_next(&placeholders, &wanted))
            printf(
                " %s%.*s", wanted.kind == COMPLETION_LIST ? "_normsweep_" : "", wanted.length, wanted.detail);
    }
}

/* Within brackets and single quotes. */
static void print_help(const char *help)
{
    putchar('[');
    for (; *help; help++) {
        if (*help == '\'')
            printf("'\\''");
        else if (*help == '[' || *help == ']')
            printf("\\%c", *help);
        else
            putchar(*help);
    }
    putchar(']');
}

/*         '(-o --output)'{-o+,--output=}'[the dataset]:OUT.nc:_files -g "*.nc(-.)"' */
static void print_option(enum option option)
{
    const struct option_row *row = &option_table[option];
    bool repeats = row->store.kind == STORE_TEXTS;

    printf("        ");
    if (option == OPTION_HELP)
        printf("'(- *)'{-%c,--%s}'", row->letter, row->word);
    else if (row->letter)
        printf("'(-%c --%s)'{-%c%s,--%s%s}'", row->letter, row->word, row->letter, row->value ? "+" : "",
            row->word, row->value ? "=" : "");
    else
        printf("'%s--%s%s", repeats ? "*" : "", row->word, row->value ? "=" : "");
    print_help(row->help);
    if (row->value) {
        printf(":%s:", row->value);
        print_action(row->value);
    }
    printf("' \\\n");
}

static void print_command(const struct command *command)
{
    const char *operands = command->operands, *operand;
    int length;

    printf("    %s)\n        _arguments -s -S \\\n", command->name);
    for (enum option option = 0; option < OPTION_COUNT; option++)
        if (command_takes(command, option))
            print_option(option);
    for (int place = 1; (operand = completion_operand(&operands, &length)); place++) {
        char text[128];
        snprintf(text, sizeof(text), "%.*s", length, operand);
        printf("        '%d:%s:", place, text);
        print_action(text);
        printf("'%s\n", operands[0] ? " \\" : "");
    }
    printf("        ;;\n");
}

static const char beginning[] =
    "#compdef normsweep normsweep-figures normsweep-report normsweep-table\n"
    "# Completion of normsweep in zsh. In ~/.zshrc, behind compinit: eval \"$(normsweep completion zsh)\"\n"
    "# or this text as a file _normsweep in a folder of fpath.\n";

static const char functions[] =
    "\n"
    "# Words, and the names that functions describe.\n"
    "_normsweep_any() {\n"
    "    local name\n"
    "    local -a alternatives=()\n"
    "    for name; do\n"
    "        case $name in\n"
    "        _*) alternatives+=(\"${name#_normsweep_}:name:$name\") ;;\n"
    "        *) alternatives+=(\"words:word:($name)\") ;;\n"
    "        esac\n"
    "    done\n"
    "    _alternative $alternatives\n"
    "}\n"
    "\n"
    "# NAME=VALUE, the names described by a function.\n"
    "_normsweep_pairs() {\n"
    "    if compset -P 1 '*='; then\n"
    "        local -a choices=()\n"
    "        _normsweep_values_of \"${${IPREFIX%=}##*[=,]}\"\n"
    "        _wanted values expl value compadd -a choices\n"
    "    else\n"
    "        $1 -qS =\n"
    "    fi\n"
    "}\n"
    "\n"
    "_normsweep_set() {\n"
    "    local expl\n"
    "    _normsweep_pairs _normsweep_keys\n"
    "}\n"
    "\n"
    "_normsweep_at() {\n"
    "    local expl\n"
    "    compset -P '*,'\n"
    "    _normsweep_pairs _normsweep_axes\n"
    "}\n"
    "\n"
    "_normsweep_over() {\n"
    "    compset -P '*,'\n"
    "    _normsweep_axes -qS ,\n"
    "}\n"
    "\n"
    "# Scripts beside the program: a dataset, and what their --help names.\n"
    "_normsweep_script() {\n"
    "    if [[ $PREFIX == -* ]]; then\n"
    "        compadd -- $(_call_program options $words[1] --help 2>/dev/null |\n"
    "            grep -oE -- '(^|[[:space:],[])--?[a-zA-Z][a-z-]*' | tr -d ' ,[')\n"
    "    else\n"
    "        _files -g '*.nc(-.)'\n"
    "    fi\n"
    "}\n";

static const char ending[] =
    "    esac\n"
    "}\n"
    "\n"
    "# Read as a file of fpath, this is the function itself.\n"
    "if [[ $funcstack[1] == _normsweep ]]; then\n"
    "    _normsweep \"$@\"\n"
    "else\n"
    "    compdef _normsweep normsweep normsweep-figures normsweep-report normsweep-table\n"
    "fi\n";

void completion_zsh(void)
{
    fputs(beginning, stdout);
    print_lists();
    print_values();
    fputs(functions, stdout);
    puts("\n"
         "_normsweep() {\n"
         "    if [[ ${service:-normsweep} == normsweep-* ]]; then\n"
         "        _normsweep_script\n"
         "        return\n"
         "    fi\n"
         "    if ((CURRENT == 2)); then\n"
         "        _normsweep_any --help --version _normsweep_commands\n"
         "        return\n"
         "    fi\n"
         "    shift words\n"
         "    ((CURRENT--))\n"
         "    case $words[1] in");
    for (const struct command *command = command_table; command->name; command++)
        print_command(command);
    fputs(ending, stdout);
}
