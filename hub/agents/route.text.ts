import { texts } from '../words.ts'

/** Why a task goes to an agent. */
export const routeText = texts(
  {
    command: (word: string, agent: string) => `/${word} is for ${agent}.`,
    no_word: 'No word of the task is one that belongs to an agent.',
    either: (words: string, one: string, other: string) =>
      `"${words}" could be for ${one} as well as for ${other}.`,
    said_to: (words: string, agent: string) => `"${words}" is what one says to ${agent}.`,
  },
  {
    command: (word, agent) => `/${word} komutu ${agent} ajanı içindir.`,
    no_word: 'Görevde hiçbir ajana ait bir söz yok.',
    either: (words, one, other) =>
      `“${words}” hem ${one} hem de ${other} ajanına söylenmiş olabilir.`,
    said_to: (words, agent) => `“${words}” sözü ${agent} ajanı için kullanılır.`,
  },
)
