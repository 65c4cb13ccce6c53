import { texts } from '../../i18n/words.ts'

/** Why a letter cannot be rendered. */
export const renderText = texts(
  {
    too_large: (bytes: number, most: number) =>
      `The letter has ${bytes} bytes, more than ${most}. Shorten it or link the logo.`,
    personal_field: (field: string) =>
      `{${field}} cannot be filled in a campaign; use {first_name} or leave it out.`,
    no_fit: 'The slots do not fit the template.',
    missing: 'This is missing.',
    longest: (most: number) => `This has more than ${most} characters.`,
    most: (count: number) => `There are more than ${count} of these.`,
    no_link: 'This is no http, https or mailto link.',
    unknown_slots: (names: string) => `The template has no ${names}.`,
    wrong: 'This does not fit the template.',
  },
  {
    too_large: (bytes, most) =>
      `Mektup ${bytes} bayt; en çok ${most} olabilir. Kısaltın ya da logoyu bağlantı olarak verin.`,
    personal_field: (field) =>
      `{${field}} bir kampanyada doldurulamaz; {first_name} kullanın ya da çıkarın.`,
    no_fit: 'Mektubun bölümleri şablona uymuyor.',
    missing: 'Bu eksik.',
    longest: (most) => `Bu ${most} karakterden uzun.`,
    most: (count) => `Bunlardan en çok ${count} tane olabilir.`,
    no_link: 'Bu bir http, https ya da mailto bağlantısı değil.',
    unknown_slots: (names) => `Şablonda bu bölümler yok: ${names}`,
    wrong: 'Bu şablona uymuyor.',
  },
)
