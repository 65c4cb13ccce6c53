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
    project_rule_added: (agent: string) =>
      `${agentName('en', agent)} follows it in this project from now on.`,
    only_rules: 'Only a rule for a prompt can be approved for all projects.',
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
    project_rule_added: (agent) =>
      `${agentName('tr', agent)} ajanı bundan sonra bu projede ona uyar.`,
    only_rules: 'Tüm projeler için yalnızca bir istem kuralı onaylanabilir.',
    unable: 'Bu hub bunu yapamaz.',
  },
)
