import { decimal, texts } from '../i18n/words.ts'

/** What is amiss with a logo or a colour. */
export const brandingText = texts(
  {
    faint_on_white: (colour: string, contrast: number, least: number) =>
      `${colour} has a contrast of ${decimal('en', contrast)} on white; text needs ${least}. Choose a darker one.`,
    faint_on_dark: (colour: string, contrast: number, least: number) =>
      `${colour} has a contrast of ${decimal('en', contrast)} on a dark page; ${least} is needed. Choose a lighter one.`,
    no_mail_logo: 'Letters go without this logo: they take a PNG or JPEG of up to 29 KB.',
    logo: {
      form: 'Send the logo as data:image/png or data:image/jpeg in base64. Export an SVG as a PNG first.',
      large: (kilobytes: number) => `The logo has ${kilobytes} KB, more than 200. Make it smaller.`,
      other: (type: string) => `The file is not a ${type}, though it says so. Export it again.`,
    },
  },
  {
    faint_on_white: (colour, contrast, least) =>
      `${colour} renginin beyaz üzerindeki karşıtlığı ${decimal('tr', contrast)}; metin için en az ${decimal('tr', least)} gerekir. Daha koyu bir renk seçin.`,
    faint_on_dark: (colour, contrast, least) =>
      `${colour} renginin koyu sayfadaki karşıtlığı ${decimal('tr', contrast)}; en az ${decimal('tr', least)} gerekir. Daha açık bir renk seçin.`,
    no_mail_logo: 'Bu logo mektuplarda yer almaz: orada en çok 29 KB’lık PNG ya da JPEG olur.',
    logo: {
      form: 'Logoyu base64 ile data:image/png ya da data:image/jpeg olarak gönderin. SVG’yi önce PNG olarak dışa aktarın.',
      large: (kilobytes) => `Logo ${kilobytes} KB; en çok 200 KB olabilir. Küçültün.`,
      other: (type) => `Dosya ${type} olduğunu söylüyor, ama değil. Yeniden dışa aktarın.`,
    },
  },
)
