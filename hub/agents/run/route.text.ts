import { texts } from '../../i18n/words.ts'
import { agentName } from '../names.text.ts'

/** Why a task was routed to an agent; the words come quoted. */
export const routeText = texts(
  {
    command: (word: string, agent: string) => `/${word} is a command of ${agentName('en', agent)}.`,
    no_word: 'No phrase in the task belongs to an agent.',
    passing: (words: string) => `${words} says too little by itself.`,
    either: (words: string, one: string, other: string) =>
      `${words} could mean ${agentName('en', one)} or ${agentName('en', other)}.`,
    said_to: (words: string, agent: string) =>
      `${agentName('en', agent)} was chosen because of ${words}.`,
  },
  {
    command: (word, agent) => `/${word} komutu ${agentName('tr', agent)} ajanı içindir.`,
    no_word: 'Görevde bir ajanı gösteren ifade yok.',
    passing: (words) => `${words} tek başına yeterli bilgi vermiyor.`,
    either: (words, one, other) =>
      `${words} hem ${agentName('tr', one)} hem de ${agentName('tr', other)} ajanı için olabilir.`,
    said_to: (words, agent) => `${agentName('tr', agent)} ajanı şu sözlere göre seçildi: ${words}.`,
  },
)
