import { texts } from '../i18n/words.ts'

/** What is wrong with a settings file. */
export const settingsText = texts(
  {
    unusable: (file: string, field: string, why: string) =>
      `${file}: ${field} is not valid: ${why}`,
    whole: 'the file',
    own_name: (name: string) =>
      `You have opened the hub as ${name}, and it would no longer answer under that name. Keep it, or open the hub under another of its names first.`,
    no_key: (file: string) =>
      `${file} contains no database key. Paste the one that watchpost-hub service-key show prints.`,
  },
  {
    // Schemas give their reason in English only.
    unusable: (file, field) => `${file}: ${field} geçerli değil.`,
    whole: 'dosya',
    own_name: (name) =>
      `Hub’ı ${name} adıyla açtınız; hub artık bu adla yanıt vermezdi. Adı koruyun ya da hub’ı önce başka bir adıyla açın.`,
    no_key: (file) =>
      `${file} içinde veritabanı anahtarı yok. \`watchpost-hub service-key show\` komutunun gösterdiği anahtarı yapıştırın.`,
  },
)
