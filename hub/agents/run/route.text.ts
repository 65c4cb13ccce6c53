import { texts } from '../../i18n/words.ts'
import { agentName } from '../names.text.ts'

/** Why a task goes to an agent. */
export const routeText = texts(
  {
    command: (word: string, agent: string) => `/${word} is for ${agentName('en', agent)}.`,
    no_word: 'No word of the task is one that belongs to an agent.',
    either: (words: string, one: string, other: string) =>
      `"${words}" could be for ${agentName('en', one)} as well as for ${agentName('en', other)}.`,
    said_to: (words: string, agent: string) =>
      `"${words}" is what one says to ${agentName('en', agent)}.`,
  },
  {
    command: (word, agent) => `/${word} komutu ${agentName('tr', agent)} ajanı içindir.`,
    no_word: 'Görevde hiçbir ajana ait bir söz yok.',
    either: (words, one, other) =>
      `“${words}” hem ${agentName('tr', one)} hem de ${agentName('tr', other)} ajanına söylenmiş olabilir.`,
    said_to: (words, agent) => `“${words}” sözü ${agentName('tr', agent)} ajanı için kullanılır.`,
  },
)
