// Gives the sliders of a page values at random, and says what the page shows then.

function randomFrom(seed) {
  let state = (seed + 1) * 2654435761 % 4294967296;
  return (below) => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return Math.floor(state / 4294967296 * below);
  };
}

/** A number of up to so many bits, a power of two now and then. */
function randomNumber(random, bits) {
  const exponent = random(bits);
  return (1n << BigInt(exponent)) + BigInt(random(3) === 0 ? 0 : random(2 ** exponent));
}

/** Budgets are chosen so that the launch of whole tapes fits, fits only with fewer rows, or does not fit. */
function setBudget(view, random) {
  view.settings.budget.value = null;
  if (random(3) === 0) return;
  const heaps = view.targets.map((target) => view.plan(target)).filter((launch) => !launch.refusal).map((launch) => launch.heap);
  if (heaps.length > 0) view.settings.budget.value = most(64n, heaps[random(heaps.length)] * BigInt(1 + random(120)) / 100n);
}

/** The same number of threads for processors and devices, so that one command says it. */
function setRandomly(view, random) {
  const threads = randomNumber(random, 20);
  for (const slider of view.settings.sliders) {
    if (slider.of !== undefined) slider.value = least(slider.greatest, random(12) === 0 ? 0n : randomNumber(random, random(4) === 0 ? 20 : 8));
    else if (slider === view.settings.workers || slider === view.settings.threads) slider.value = threads;
  }
  if (view.settings.pass !== undefined) view.settings.pass.value = random(3) === 0 ? 1000 : random(1000);
  setBudget(view, random);
}

/** The length that a launch has chosen, given by its slider, makes the same launch. */
function checkForced(view) {
  if (!view.settings.segment) return;
  for (const target of view.targets) {
    const chosen = view.plan(target), lengths = chosen.refusal ? [] : [...new Set(chosen.tasks.map((task) => task.segment))];
    if (lengths.length !== 1) continue;
    view.settings.segment.value = lengths[0];
    const forced = view.plan(target);
    view.settings.segment.value = null;
    if (forced.refusal || forced.heap !== chosen.heap) throw new Error(`@${view.kernel.name} on ${target.name}, checkpoints every ${lengths[0]}: ${forced.heap} bytes, chosen ${chosen.heap}`);
  }
}

/** What each kernel with rows takes, and the words with which adc size says the same. */
function figuresFor(seed) {
  const random = randomFrom(seed), plain = (key, value) => (typeof value === "bigint" ? Number(value) : value);
  return VIEWS.filter((view) => view.settings.has_rows && !view.is_static).map((view) => {
    setRandomly(view, random);
    checkForced(view);
    return { kernel: view.kernel.name, words: view.settings.words(false), figures: JSON.parse(JSON.stringify(view.figures(), plain)) };
  });
}
