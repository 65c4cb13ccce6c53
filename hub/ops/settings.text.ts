import { texts } from '../i18n/words.ts'

/** What is amiss with a file of the settings. */
export const settingsText = texts(
  {
    unusable: (file: string, field: string, why: string) =>
      `${file}: ${field} is not usable: ${why}`,
    whole: 'the file',
    no_key: (file: string) =>
      `${file} holds no database key. Paste one: watchpost-hub service-key show`,
  },
  {
    // What a schema says of a field it says in English.
    unusable: (file, field) => `${file}: ${field} kullanılamıyor.`,
    whole: 'dosya',
    no_key: (file) =>
      `${file} içinde veritabanı anahtarı yok. \`watchpost-hub service-key show\` komutunun gösterdiğini yapıştırın.`,
  },
)
