import { texts } from '../i18n/words.ts'

/** Why a lead cannot be created, changed or moved. */
export const leadsText = texts(
  {
    keep_one: 'Keep at least one of name, e-mail and company.',
    known_email: (lead: string, project: string) =>
      `${lead} in “${project}” already has this e-mail. Change that lead instead.`,
    known_just_now: 'Another lead was just given this e-mail. Check it and try again.',
    no_open_refusal:
      'No reply of this lead is waiting for a decision whether it asks for no more mail.',
    mail: {
      approved: 'A mail to this lead is approved. Send or reject it first.',
      pushed: 'A mail to this lead is ready to be sent. Send or reject it first.',
      sending: 'A mail to this lead is being sent. Wait until it is sent.',
      unclear:
        'It is unclear whether a mail to this lead was sent. Resolve that in its draft first.',
    },
  },
  {
    keep_one: 'Ad, e-posta ve firmadan en az biri kalmalı.',
    known_email: (lead, project) =>
      `Bu e-posta “${project}” projesinde kayıtlı: ${lead}. Onun yerine o adayı değiştirin.`,
    known_just_now: 'Bu e-posta az önce başka bir adaya verildi. Kontrol edip yeniden deneyin.',
    no_open_refusal: 'Bu adayın, artık posta istenmediğine dair karar bekleyen bir yanıtı yok.',
    mail: {
      approved: 'Bu adaya gidecek bir e-posta onaylanmış. Önce onu gönderin ya da reddedin.',
      pushed: 'Bu adaya gidecek bir e-posta gönderime hazır. Önce onu gönderin ya da reddedin.',
      sending: 'Bu adaya bir e-posta gönderiliyor. Bitmesini bekleyin.',
      unclear: 'Bu adaya bir e-postanın gidip gitmediği belirsiz. Önce taslağında bunu belirtin.',
    },
  },
)
