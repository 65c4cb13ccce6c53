import { texts } from '../i18n/words.ts'

/** Why a lead cannot be as it was wanted. */
export const leadsText = texts(
  {
    keep_one: 'Keep one of name, email and company.',
    known_email: (lead: string, project: string) =>
      `${lead} in “${project}” has this e-mail already. Change that lead instead.`,
    known_just_now: 'Another lead has got this e-mail just now. Look again.',
    letter: {
      approved: 'A letter to this lead is approved. Reject it, or let it be sent first.',
      pushed: 'A letter to this lead is ready to be sent. Reject it, or let it be sent first.',
      sending: 'A letter to this lead is being sent. Wait until it is.',
      unclear: 'It is unclear whether a letter to this lead was sent. Say so in its draft first.',
    },
  },
  {
    keep_one: 'Ad, e-posta ve firmadan biri kalmalı.',
    known_email: (lead, project) =>
      `Bu e-posta “${project}” projesinde kayıtlı: ${lead}. Onun yerine o adayı değiştirin.`,
    known_just_now: 'Bu e-posta az önce başka bir adaya yazıldı. Yeniden bakın.',
    letter: {
      approved: 'Bu adaya bir mektup onaylanmış. Önce reddedin ya da gönderilmesini bekleyin.',
      pushed: 'Bu adaya bir mektup gönderime hazır. Önce reddedin ya da gönderilmesini bekleyin.',
      sending: 'Bu adaya bir mektup gönderiliyor. Bitmesini bekleyin.',
      unclear: 'Bu adaya bir mektubun gidip gitmediği belirsiz. Önce taslağında bunu belirtin.',
    },
  },
)
