import { decimal, texts } from './words.ts'

/** What is amiss with a logo or a colour. */
export const brandingText = texts(
  {
    faint_on_white: (colour: string, contrast: number, least: number) =>
      `${colour} has a contrast of ${decimal('en', contrast)} on white; text needs ${least}. Choose a darker one.`,
    faint_on_dark: (colour: string, contrast: number, least: number) =>
      `${colour} has a contrast of ${decimal('en', contrast)} on a dark page; ${least} is needed. Choose a lighter one.`,
    no_mail_logo: 'Letters go without this logo: they take a PNG or JPEG of up to 29 KB.',
    logo: {
      form: 'Send the logo as data:image/png, image/jpeg or image/svg+xml in base64.',
      large: (kilobytes: number) => `The logo has ${kilobytes} KB, more than 200. Make it smaller.`,
      other: (type: string) => `The logo is no ${type}, though it says so.`,
      needless: (what: string) =>
        `The SVG has ${what}, which a logo does not need. Export it plain, or as a PNG.`,
    },
  },
  {
    faint_on_white: (colour, contrast, least) =>
      `${colour} renginin beyaz üzerindeki karşıtlığı ${decimal('tr', contrast)}; metin için en az ${decimal('tr', least)} gerekir. Daha koyu bir renk seçin.`,
    faint_on_dark: (colour, contrast, least) =>
      `${colour} renginin koyu sayfadaki karşıtlığı ${decimal('tr', contrast)}; en az ${decimal('tr', least)} gerekir. Daha açık bir renk seçin.`,
    no_mail_logo: 'Bu logo mektuplarda yer almaz: orada en çok 29 KB’lık PNG ya da JPEG olur.',
    logo: {
      form: 'Logoyu base64 ile data:image/png, image/jpeg ya da image/svg+xml olarak gönderin.',
      large: (kilobytes) => `Logo ${kilobytes} KB; en çok 200 KB olabilir. Küçültün.`,
      other: (type) => `Logo ${type} olduğunu söylüyor, ama değil.`,
      needless: (what) =>
        `SVG’de bir logonun gerektirmediği bir şey var: ${what}. Sade bir SVG ya da PNG olarak dışa aktarın.`,
    },
  },
)
