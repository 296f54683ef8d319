// Entities first, evidence as it comes: an answer that takes long is asked for without evidence, too, which is quicker.
//
// Knows two ways to ask the same, and nothing of what is asked.

const PATIENCE = 250; // ms that the whole answer has for itself

/**
 * The first of two answers: {answer, rest}. `whole` is on its way; where it takes long, `brief()` is asked, and if that
 * answers before it, `rest` is the promise of the whole one. A brief one that fails is as if it had not been asked.
 */
export async function hurry(whole, brief) {
  const done = whole.then((answer) => ({ answer, rest: null }));
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE, null));
  const found = await Promise.race([done, late]);
  if (found) return found;
  const early = brief().then(
    (answer) => ({ answer, rest: whole }),
    () => done,
  );
  return Promise.race([done, early]);
}
