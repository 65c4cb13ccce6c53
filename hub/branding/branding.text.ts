import { decimal, texts } from '../i18n/words.ts'

/** Why a logo or a colour is refused, or does not appear in mails. */
export const brandingText = texts(
  {
    faint_on_white: (colour: string, contrast: number, least: number) =>
      `${colour} has a contrast of ${decimal('en', contrast)} on white; text needs at least ${least}. Choose a darker colour.`,
    faint_on_dark: (colour: string, contrast: number, least: number) =>
      `${colour} has a contrast of ${decimal('en', contrast)} on a dark page; at least ${least} is needed. Choose a lighter colour.`,
    no_mail_logo:
      'Mails are sent without this logo: they can include a PNG or JPEG of up to 29 KB.',
    logo: {
      form: 'Send the logo as data:image/png or data:image/jpeg in base64. Export an SVG as a PNG first.',
      large: (kilobytes: number) =>
        `The logo has ${kilobytes} KB; the limit is 200 KB. Make it smaller.`,
      other: (type: string) => `The file claims to be ${type}, but is not. Export it again.`,
    },
  },
  {
    faint_on_white: (colour, contrast, least) =>
      `${colour} renginin beyaz üzerindeki kontrastı ${decimal('tr', contrast)}; metin için en az ${decimal('tr', least)} gerekir. Daha koyu bir renk seçin.`,
    faint_on_dark: (colour, contrast, least) =>
      `${colour} renginin koyu sayfadaki kontrastı ${decimal('tr', contrast)}; en az ${decimal('tr', least)} gerekir. Daha açık bir renk seçin.`,
    no_mail_logo:
      'Bu logo e-postalarda yer almaz: e-postalara en çok 29 KB’lık PNG ya da JPEG eklenebilir.',
    logo: {
      form: 'Logoyu base64 ile data:image/png ya da data:image/jpeg olarak gönderin. SVG’yi önce PNG olarak dışa aktarın.',
      large: (kilobytes) => `Logo ${kilobytes} KB; en çok 200 KB olabilir. Küçültün.`,
      other: (type) =>
        `Dosyanın türü ${type} olarak belirtilmiş, ama öyle değil. Yeniden dışa aktarın.`,
    },
  },
)
