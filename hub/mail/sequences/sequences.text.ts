import { day, texts } from '../../i18n/words.ts'

/** What the hub says about sequences. */
export const sequencesText = texts(
  {
    no_step: 'The sequence has no such step.',
    first_subject: 'The first step needs a subject.',
    first_wait: 'The first step has no days before it.',
    next_wait: 'Enter at least 1 day after the step before.',
    step_was_sent:
      'Mails of this step have gone, so it stays where it is. Its text can still be changed.',
    cannot: {
      edit: 'A sequence that has ended cannot be changed',
      approve: 'Only a draft can be approved',
      pause: 'Only a running sequence can be paused',
      resume: 'Only a paused sequence can be resumed',
      stop: 'Only a running or paused sequence can be stopped',
      remove: 'Stop the sequence before you delete it',
    },
    is: {
      draft: 'it is a draft.',
      running: 'it is running.',
      paused: 'it is paused.',
      done: 'it is done.',
      stopped: 'it was stopped.',
    },
    was_sent: 'A sequence whose mails have gone is kept, because the leads’ timelines refer to it.',
    seen_another: 'The sequence has changed since it was shown. Read it again, then approve it.',
    nobody_in: 'Nobody with this address is in the sequence any more.',
    nothing_unclear: 'None of these mails is unclear.',
    sender_changed: 'The sender has changed since the approval. Approve the sequence again.',
    restored: 'It comes from a backup. Approve it again before anything is sent.',
    restored_mails: 'It may have been sent between the backup and the restore.',
    edited: 'It was changed. Approve it again before more mails go.',
    in_another: (sequence: string) => `is in the running sequence “${sequence}”`,
    had_it: 'was in this sequence before',
    too_many: (count: number, most: number) =>
      `${count} recipients are too many for one sequence; ${most} are possible.`,
    narrow: 'Choose fewer recipients.',
    busy: (sequence: string, names: string, more: number) =>
      `In the running sequence “${sequence}” and left out: ${names}${more > 0 ? ` and ${more} more` : ''}.`,
    had: (names: string, more: number) =>
      `In this sequence before and left out: ${names}${more > 0 ? ` and ${more} more` : ''}.`,
    nobody: 'Nobody is left.',
    others: 'Choose other recipients.',
    replies_read: 'Replies and bounces are read from the mailbox, and stop the sequence.',
    replies_unread:
      'No mailbox is read: a reply or a bounce does not stop the sequence until you take the person out.',
    set_up_imap: 'Enter the mailbox (IMAP) in Settings > Mail.',
    unclear_before: (count: number) =>
      `${count} mails are unclear: their recipients get nothing more until you decide.`,
    decide: 'Decide for each whether it was sent.',
    none_unclear: 'No mail is unclear.',
    will_happen: (given: { people: number; steps: number; first: string; last: string }) =>
      `${given.people === 1 ? '1 person gets' : `${given.people} people get`} up to ${given.steps === 1 ? '1 mail' : `${given.steps} mails`} each, the first on ${day('en', given.first)} and the last on ${day('en', given.last)}. Whoever replies, bounces, opts out or moves to another stage gets no more.`,
  },
  {
    no_step: 'Dizide böyle bir adım yok.',
    first_subject: 'İlk adımın bir konusu olmalı.',
    first_wait: 'İlk adımdan önce gün olmaz.',
    next_wait: 'Önceki adımdan sonra en az 1 gün girin.',
    step_was_sent:
      'Bu adımın e-postaları gönderildi, bu yüzden yerinde kalır. Metni yine de değiştirilebilir.',
    cannot: {
      edit: 'Sona eren bir dizi değiştirilemez',
      approve: 'Yalnızca bir taslak onaylanabilir',
      pause: 'Yalnızca süren bir dizi duraklatılabilir',
      resume: 'Yalnızca duraklatılmış bir dizi sürdürülebilir',
      stop: 'Yalnızca süren ya da duraklatılmış bir dizi durdurulabilir',
      remove: 'Diziyi silmeden önce durdurun',
    },
    is: {
      draft: 'dizi bir taslak.',
      running: 'dizi sürüyor.',
      paused: 'dizi duraklatıldı.',
      done: 'dizi tamamlandı.',
      stopped: 'dizi durduruldu.',
    },
    was_sent:
      'E-postaları gönderilmiş bir dizi silinmez, çünkü kişilerin zaman çizelgeleri ona başvurur.',
    seen_another: 'Dizi gösterildiğinden beri değişti. Yeniden okuyun, sonra onaylayın.',
    nobody_in: 'Bu adresle dizide artık kimse yok.',
    nothing_unclear: 'Bu e-postaların hiçbiri belirsiz değil.',
    sender_changed: 'Onaydan beri gönderen değişti. Diziyi yeniden onaylayın.',
    restored: 'Dizi bir yedekten geldi. Bir şey gönderilmeden önce yeniden onaylayın.',
    restored_mails: 'Yedek ile geri yükleme arasında gönderilmiş olabilir.',
    edited: 'Dizi değiştirildi. Başka e-posta gitmeden önce yeniden onaylayın.',
    in_another: (sequence) => `süren “${sequence}” dizisinde`,
    had_it: 'daha önce bu dizideydi',
    too_many: (count, most) =>
      `${count} alıcı tek bir dizi için çok fazla; en çok ${most} alıcı olabilir.`,
    narrow: 'Daha az alıcı seçin.',
    busy: (sequence, names, more) =>
      `Süren “${sequence}” dizisinde olduğu için dışarıda kalanlar: ${names}${more > 0 ? ` ve ${more} kişi daha` : ''}.`,
    had: (names, more) =>
      `Daha önce bu dizide olduğu için dışarıda kalanlar: ${names}${more > 0 ? ` ve ${more} kişi daha` : ''}.`,
    nobody: 'Geriye kimse kalmıyor.',
    others: 'Başka alıcılar seçin.',
    replies_read: 'Yanıtlar ve geri dönen e-postalar posta kutusundan okunur ve diziyi durdurur.',
    replies_unread:
      'Posta kutusu okunmuyor: siz kişiyi çıkarana dek bir yanıt ya da geri dönen e-posta diziyi durdurmaz.',
    set_up_imap: 'Ayarlar > E-posta bölümünde posta kutusunu (IMAP) girin.',
    unclear_before: (count) =>
      `${count} e-posta belirsiz: siz karar verene dek alıcılarına başka bir şey gitmez.`,
    decide: 'Her biri için gönderilip gönderilmediğine karar verin.',
    none_unclear: 'Belirsiz e-posta yok.',
    will_happen: ({ people, steps, first, last }) =>
      `${people} kişi en çok ${steps} e-posta alır; ilki ${day('tr', first)}, sonuncusu ${day('tr', last)}. Yanıt veren, e-postası geri dönen, artık istemeyen ya da başka aşamaya geçen kişi başka e-posta almaz.`,
  },
)
