import { agentName } from '../agents/names.text.ts'
import { texts } from '../i18n/words.ts'

/** What is said when somebody decides, and of what came of it. */
export const approvalText = texts(
  {
    changed: 'What is approved is not what was shown. Look at it again.',
    decided: {
      waiting: 'It waits for a decision.',
      approved: 'It was decided already: it is approved.',
      rejected: 'It was decided already: it is rejected.',
      done: 'It was decided already: it is done.',
      failed: 'It was decided already: it was tried and failed.',
    },
    mission_cancelled: 'The mission was cancelled.',
    noted: 'Noted.',
    rule_added: (agent: string) => `Added to the prompt of ${agentName('en', agent)}.`,
    unable: 'This hub cannot do that.',
  },
  {
    changed: 'Onaylanan, gösterilenle aynı değil. Yeniden bakın.',
    decided: {
      waiting: 'Karar bekliyor.',
      approved: 'Karar verilmiş: onaylandı.',
      rejected: 'Karar verilmiş: reddedildi.',
      done: 'Karar verilmiş: yapıldı.',
      failed: 'Karar verilmiş: denendi, başarısız oldu.',
    },
    mission_cancelled: 'Görev iptal edildi.',
    noted: 'Not edildi.',
    rule_added: (agent) => `${agentName('tr', agent)} ajanının istemine eklendi.`,
    unable: 'Bu hub bunu yapamaz.',
  },
)
