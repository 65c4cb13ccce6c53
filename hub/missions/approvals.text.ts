import { agentName } from '../agents/names.text.ts'
import { texts } from '../i18n/words.ts'

/** Answers to a decision on an approval, and its outcome. */
export const approvalText = texts(
  {
    changed: 'The proposal has changed since it was shown. Read it again.',
    decided: {
      waiting: 'It is waiting for a decision.',
      approved: 'Already decided: it was approved.',
      rejected: 'Already decided: it was rejected.',
      done: 'Already decided: it was carried out.',
      failed: 'Already decided: it was tried and failed.',
    },
    mission_cancelled: 'The mission was cancelled.',
    noted: 'Noted.',
    rule_added: (agent: string) => `Added to the prompt of ${agentName('en', agent)}.`,
    unable: 'This hub cannot do that.',
  },
  {
    changed: 'Öneri, gösterildikten sonra değişti. Yeniden okuyun.',
    decided: {
      waiting: 'Karar bekliyor.',
      approved: 'Karar zaten verilmiş: onaylandı.',
      rejected: 'Karar zaten verilmiş: reddedildi.',
      done: 'Karar zaten verilmiş: uygulandı.',
      failed: 'Karar zaten verilmiş: denendi, başarısız oldu.',
    },
    mission_cancelled: 'Görev iptal edildi.',
    noted: 'Not edildi.',
    rule_added: (agent) => `${agentName('tr', agent)} ajanının istemine eklendi.`,
    unable: 'Bu hub bunu yapamaz.',
  },
)
