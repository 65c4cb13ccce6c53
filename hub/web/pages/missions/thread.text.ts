import { texts } from '../../../../shared/texts.ts'

/** Going on from a result, and editing it. */
export const threadText = texts(
  {
    conversation: 'Conversation',
    here: 'This mission',
    ask: 'Ask further',
    examples: '“Shorter”, “in Turkish”, “for the other two as well”',
    submit: 'Go on',
    sent: 'The mission goes on',
    edit: 'Edit',
    text: 'Text of the result',
    save: 'Save',
    saved: 'Saved; the version before is kept',
    versions: 'Versions',
    version: (n: number) => `Version ${n}`,
    by: {
      agent: 'by the agent',
      session: 'by you',
      token: 'by a script',
      file: 'changed in its folder',
    },
    restore: 'Take this version',
  },
  {
    conversation: 'Görüşme',
    here: 'Bu görev',
    ask: 'Devamını iste',
    examples: '“Daha kısa”, “İngilizceye çevir”, “diğer ikisi için de”',
    submit: 'Devam et',
    sent: 'Görev devam ediyor',
    edit: 'Düzenle',
    text: 'Sonucun metni',
    save: 'Kaydet',
    saved: 'Kaydedildi; önceki sürüm saklandı',
    versions: 'Sürümler',
    version: (n) => `${n}. sürüm`,
    by: {
      agent: 'ajan yazdı',
      session: 'siz düzenlediniz',
      token: 'bir betik düzenledi',
      file: 'klasöründe değiştirildi',
    },
    restore: 'Bu sürümü al',
  },
)
