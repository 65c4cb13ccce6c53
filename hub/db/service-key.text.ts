import { texts } from '../i18n/words.ts'

/** Why a pasted database key is refused. */
export const serviceKeyText = texts(
  {
    no_key: (file: string) =>
      `A key begins with wph_service_ or wph_public_. \`watchpost-hub service-key show\` prints it; it is stored in ${file}.`,
    wrong:
      'The database does not accept this key. Paste the whole key that `watchpost-hub service-key show` prints.',
    rights: 'This key does not have the rights that its name promises.',
    untried: 'The database is unavailable, so the key could not be checked.',
  },
  {
    no_key: (file) =>
      `Anahtar wph_service_ ya da wph_public_ ile başlar. \`watchpost-hub service-key show\` onu gösterir; bulunduğu dosya: ${file}.`,
    wrong:
      'Veritabanı bu anahtarı kabul etmiyor. `watchpost-hub service-key show` komutunun gösterdiği anahtarın tamamını yapıştırın.',
    rights: 'Bu anahtarın, adının söylediği yetkileri yok.',
    untried: 'Veritabanına ulaşılamadığı için anahtar denenemedi.',
  },
)
