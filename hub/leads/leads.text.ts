import { texts } from '../i18n/words.ts'

/** Why a lead cannot be created, changed or moved. */
export const leadsText = texts(
  {
    keep_one: 'Keep at least one of name, e-mail and company.',
    known_email: (lead: string, project: string) =>
      `${lead} in “${project}” already has this e-mail. Change that lead instead.`,
    no_currency: 'An amount needs its currency, e.g. EUR.',
    not_closed: 'A reason belongs to a lead in stage won or lost. Change the stage as well.',
    field: {
      unknown: (key: string) => `The project has no field “${key}”. See leads/fields.`,
      text: (label: string) => `“${label}” takes a text of at most 1,000 characters.`,
      number: (label: string) => `“${label}” takes a number.`,
      date: (label: string) => `“${label}” takes a date such as 2026-03-01.`,
      choice: (label: string, choices: string) => `“${label}” takes one of: ${choices}.`,
      yes_no: (label: string) => `“${label}” takes yes or no.`,
    },
    merge: {
      same: 'Choose two different leads to merge.',
      other_project: 'The two leads belong to different projects. Only leads of one project merge.',
      too_many_tags: (tags: number, most: number) =>
        `Together the two leads have ${tags} tags, and one lead can have ${most}. Remove some first.`,
      both: (subject: string) =>
        `Both leads are recipients of “${subject}”, which is on its way. Finish or reject it first.`,
    },
    undo_merge: {
      gone: (days: number) =>
        `There is no such merge: it was made more than ${days} days ago, its lead was deleted, or one of its people was erased.`,
      twice: 'This merge was undone already.',
      too_old:
        'This merge was made by an earlier version of the hub, which did not keep a way back.',
      later: 'The lead was merged once more since. Undo the later merge first.',
      since: {
        lead: 'The lead was changed since, so the merge can no longer be undone.',
        mail: 'A mail to the lead was written, changed, approved or sent since, so the merge can no longer be undone.',
        sequence: 'A sequence of the lead went on since, so the merge can no longer be undone.',
        inbox:
          'A mail of the lead came in, was answered or was handled since, so the merge can no longer be undone.',
        other:
          'The lead has new or changed notes, tasks, findings or entries of its timeline since, so the merge can no longer be undone.',
        audience:
          'A mail to many that named the lead was changed or deleted since, so the merge can no longer be undone.',
      },
      taken: (email: string) =>
        `Another lead of the project has the e-mail ${email} by now. Change or delete it first.`,
    },
    own_fields: {
      left_out: (label: string) =>
        `The field “${label}” is missing from the list. Remove it on its own: its values go too.`,
      in_use: (label: string, leads: number) =>
        `Leads with a value that “${label}” would no longer take: ${leads}. Change their values first.`,
      type_label: 'Type the name of the field to remove it with its values.',
      taken: (key: string) => `“${key}” already has a meaning in mails. Choose another key.`,
      twice: (name: string) => `“${name}” is in the list twice. Give each field its own name.`,
      no_choices: 'Give at least one value to choose from.',
    },
    too_many: (most: number) =>
      `The filter finds more than ${most} leads. Narrow it, and do it in parts.`,
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
    no_currency: 'Bir tutarın para birimi de olmalı, örneğin EUR.',
    not_closed: 'Neden, kazanılan ya da kaybedilen aşamadaki adaya yazılır. Aşamayı da değiştirin.',
    field: {
      unknown: (key) => `Projede “${key}” alanı yok. Alanlar: leads/fields.`,
      text: (label) => `“${label}” en çok 1.000 karakterlik bir metin alır.`,
      number: (label) => `“${label}” bir sayı alır.`,
      date: (label) => `“${label}” 2026-03-01 gibi bir tarih alır.`,
      choice: (label, choices) => `“${label}” şunlardan biri olmalı: ${choices}.`,
      yes_no: (label) => `“${label}” evet ya da hayır olmalı.`,
    },
    merge: {
      same: 'Birleştirmek için iki farklı aday seçin.',
      other_project: 'İki aday farklı projelerde. Yalnızca aynı projenin adayları birleştirilir.',
      too_many_tags: (tags, most) =>
        `İki adayın toplam ${tags} etiketi var; bir adayın en çok ${most} etiketi olabilir. Önce birkaçını silin.`,
      both: (subject) =>
        `İki aday da yolda olan “${subject}” e-postasının alıcısı. Önce onu bitirin ya da reddedin.`,
    },
    undo_merge: {
      gone: (days) =>
        `Böyle bir birleştirme yok: ${days} günden eski, adayı silinmiş ya da kişilerinden biri silinmiş.`,
      twice: 'Bu birleştirme zaten geri alındı.',
      too_old: 'Bu birleştirmeyi, geri dönüş kaydı tutmayan eski bir sürüm yaptı.',
      later: 'Aday sonradan bir kez daha birleştirildi. Önce sonraki birleştirmeyi geri alın.',
      since: {
        lead: 'Aday sonradan değiştirildi; birleştirme artık geri alınamaz.',
        mail: 'Adaya sonradan bir e-posta yazıldı, değiştirildi, onaylandı ya da gönderildi; birleştirme artık geri alınamaz.',
        sequence: 'Adayın bir dizisi sonradan ilerledi; birleştirme artık geri alınamaz.',
        inbox:
          'Adaydan sonradan bir e-posta geldi, yanıtlandı ya da ele alındı; birleştirme artık geri alınamaz.',
        other:
          'Adayın notları, yapılacakları, bulguları ya da geçmişi sonradan değişti; birleştirme artık geri alınamaz.',
        audience:
          'Adayı alıcı olarak anan toplu bir e-posta sonradan değiştirildi ya da silindi; birleştirme artık geri alınamaz.',
      },
      taken: (email) =>
        `Projede artık başka bir adayın e-postası ${email}. Önce onu değiştirin ya da silin.`,
    },
    own_fields: {
      left_out: (label) =>
        `“${label}” alanı listede yok. Onu ayrıca kaldırın: değerleri de silinir.`,
      in_use: (label, leads) =>
        `“${label}” alanının artık almayacağı bir değeri olan aday sayısı: ${leads}. Önce o değerleri değiştirin.`,
      type_label: 'Alanı değerleriyle kaldırmak için adını yazın.',
      taken: (key) => `“${key}” e-postalarda zaten bir anlam taşıyor. Başka bir anahtar seçin.`,
      twice: (name) => `“${name}” listede iki kez var. Her alana ayrı bir ad verin.`,
      no_choices: 'Seçilecek en az bir değer verin.',
    },
    too_many: (most) => `Filtre ${most} adaydan fazlasını buluyor. Daraltın ve parça parça yapın.`,
    known_just_now: 'Bu e-posta az önce başka bir adaya verildi. Kontrol edip yeniden deneyin.',
    no_open_refusal: 'Bu adayın, artık e-posta istenmediğine dair karar bekleyen bir yanıtı yok.',
    mail: {
      approved: 'Bu adaya gidecek bir e-posta onaylanmış. Önce onu gönderin ya da reddedin.',
      pushed: 'Bu adaya gidecek bir e-posta gönderime hazır. Önce onu gönderin ya da reddedin.',
      sending: 'Bu adaya bir e-posta gönderiliyor. Bitmesini bekleyin.',
      unclear: 'Bu adaya bir e-postanın gidip gitmediği belirsiz. Önce taslağında bunu belirtin.',
    },
  },
)
