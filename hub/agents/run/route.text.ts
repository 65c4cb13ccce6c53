import { texts } from '../../i18n/words.ts'
import { agentName } from '../names.text.ts'

/** Why a task was routed to an agent. */
export const routeText = texts(
  {
    command: (word: string, agent: string) => `/${word} is a command of ${agentName('en', agent)}.`,
    no_word: 'No phrase in the task belongs to an agent.',
    either: (words: string, one: string, other: string) =>
      `"${words}" could mean ${agentName('en', one)} or ${agentName('en', other)}.`,
    said_to: (words: string, agent: string) =>
      `"${words}" is a phrase for ${agentName('en', agent)}.`,
  },
  {
    command: (word, agent) => `/${word} komutu ${agentName('tr', agent)} ajanı içindir.`,
    no_word: 'Görevde bir ajanı gösteren ifade yok.',
    either: (words, one, other) =>
      `“${words}” hem ${agentName('tr', one)} hem de ${agentName('tr', other)} ajanı için olabilir.`,
    said_to: (words, agent) =>
      `“${words}” ifadesi ${agentName('tr', agent)} ajanı için kullanılır.`,
  },
)
