"""Draws (model/core/random.h) in Python, and those of validations with the sequences of masked words and of spans that
they make. Written from the headers in model."""
VALIDATION = (0, 0xffffff)  # seed and epoch
INIT, SEQUENCE, SPANS, MASKED = 0, 12, 13, 14  # purposes
WORD = 2**32 - 1


def bits(seed, purpose, index):
    """Philox4x32-10: the first 64 bits, which are a function of these three."""
    x, keys = [index & WORD, index >> 32, purpose, 0], [seed & WORD, seed >> 32]
    for _ in range(10):
        first, second = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(second >> 32) ^ x[1] ^ keys[0], second & WORD, (first >> 32) ^ x[3] ^ keys[1], first & WORD]
        keys = [(keys[0] + 0x9E3779B9) & WORD, (keys[1] + 0xBB67AE85) & WORD]
    return x[0] << 32 | x[1]


def below(seed, purpose, index, bound):
    return bits(seed, purpose, index) * bound >> 64


def seed_of(sequence, seed=VALIDATION[0], epoch=VALIDATION[1]):
    """The seed of the draws of a sequence."""
    return bits(seed, SEQUENCE, epoch << 40 | sequence)


def noise(length):
    """15 % of the tokens; ties to the even number."""
    whole, rest = divmod(3 * length, 20)
    return whole + (rest > 10 or (rest == 10 and whole % 2 == 1))


def masked(words, sequence, vocabulary, mask, *when):
    """(tokens, targets) of BERT's masked words; target None is none. when: seed and epoch, else of validations."""
    seed, needed = seed_of(sequence, *when), max(noise(len(words)), 1)
    tokens, targets = list(words), [None] * len(words)
    for i, word in enumerate(words):
        if below(seed, MASKED, 3 * i, len(words) - i) < needed:
            needed, targets[i] = needed - 1, word
            fate = below(seed, MASKED, 3 * i + 1, 10)
            if fate < 8:
                tokens[i] = mask
            elif fate == 8:
                tokens[i] = below(seed, MASKED, 3 * i + 2, vocabulary)
    return tokens, targets


def parts(seed, first_draw, tokens, count):
    """The lengths of the parts that so many tokens are cut into."""
    while count > 1:
        length = 1
        tokens, count = tokens - 1, count - 1
        while below(seed, SPANS, first_draw, tokens) >= count:
            first_draw, tokens, length = first_draw + 1, tokens - 1, length + 1
        first_draw += 1
        yield length
    yield tokens


def spans(words, sequence, sentinel, start, end, source_end=(), when=()):
    """(source, tokens, targets) of T5's spans; sentinel(i) is the word of span i."""
    if len(words) < 2:
        return [*words, *source_end], [start], [end]
    seed, lost = seed_of(sequence, *when), max(noise(len(words)), 1)
    count = max((2 * lost + 3) // 6, 1)
    source, targets, at = [], [], 0
    for i, (kept, taken) in enumerate(zip(parts(seed, 0, len(words) - lost, count), parts(seed, 2**32, lost, count))):
        source += [*words[at:at + kept], sentinel(i)]
        targets += [sentinel(i), *words[at + kept:at + kept + taken]]
        at += kept + taken
    targets.append(end)
    return [*source, *source_end], [start, *targets[:-1]], targets
