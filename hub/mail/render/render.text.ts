import { texts } from '../../i18n/words.ts'

/** Why a draft cannot be rendered. */
export const renderText = texts(
  {
    too_large: (bytes: number, most: number) =>
      `The mail has ${bytes} bytes; the limit is ${most}. Shorten it or link the logo.`,
    personal_field: (field: string) =>
      `{${field}} cannot be filled in a campaign. Use {first_name} or leave it out.`,
    unknown_field: (key: string, known: string) =>
      `There is no field {${key}}. Correct the name, add the field to the project, or use one of: ${known}.`,
    unfit: (key: string) =>
      `The fallback text in {${key}|…} must have 1 to 80 characters, without < > " & and braces.`,
    yes: 'yes',
    no: 'no',
    no_fit: 'The content does not match the template.',
    missing: 'Missing.',
    longest: (most: number) => `Must have at most ${most} characters.`,
    most: (count: number) => `There can be at most ${count} of these.`,
    no_link: 'Must be an http, https or mailto link.',
    unknown_slots: (names: string) => `The template has no slot ${names}.`,
    wrong: 'Does not match the template.',
  },
  {
    too_large: (bytes, most) =>
      `E-posta ${bytes} bayt; en çok ${most} olabilir. Kısaltın ya da logoyu bağlantı olarak verin.`,
    personal_field: (field) =>
      `{${field}} bir kampanyada doldurulamaz; {first_name} kullanın ya da çıkarın.`,
    unknown_field: (key, known) =>
      `{${key}} adlı bir alan yok. Adı düzeltin, alanı projeye ekleyin ya da şunlardan birini kullanın: ${known}.`,
    unfit: (key) =>
      `{${key}|…} içinde | işaretinden sonraki metin boş alanın yerine geçer: 1-80 karakter olmalı; < > " & ve süslü ayraç içeremez.`,
    yes: 'evet',
    no: 'hayır',
    no_fit: 'İçerik şablona uymuyor.',
    missing: 'Eksik.',
    longest: (most) => `En çok ${most} karakter olabilir.`,
    most: (count) => `En çok ${count} tane olabilir.`,
    no_link: 'Bir http, https ya da mailto bağlantısı olmalı.',
    unknown_slots: (names) => `Şablonda bu bölümler yok: ${names}`,
    wrong: 'Şablona uymuyor.',
  },
)
