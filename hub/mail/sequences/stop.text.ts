import { texts } from '../../i18n/words.ts'

/** Why somebody left a sequence. */
export const stopText = texts(
  {
    replied: 'replied',
    bounced: 'a mail bounced',
    complained: 'reported a mail as spam',
    opted_out: 'asked for no more mail',
    stage: 'moved to another stage',
    lead_deleted: 'the lead was deleted',
    erased: 'was erased',
    taken_out: 'taken out by a person',
    left_out: 'must not get the mail',
    failed: 'a mail could not be delivered',
    sequence_stopped: 'the sequence was stopped',
  },
  {
    replied: 'yanıt verdi',
    bounced: 'bir e-posta geri döndü',
    complained: 'bir e-postayı istenmeyen olarak bildirdi',
    opted_out: 'artık e-posta istemediğini bildirdi',
    stage: 'başka bir aşamaya taşındı',
    lead_deleted: 'kişi silindi',
    erased: 'kişinin verileri silindi',
    taken_out: 'bir kullanıcı tarafından çıkarıldı',
    left_out: 'bu e-postayı almaması gerekiyor',
    failed: 'bir e-posta teslim edilemedi',
    sequence_stopped: 'dizi durduruldu',
  },
)
