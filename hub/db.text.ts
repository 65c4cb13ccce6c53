import { texts } from './words.ts'

/** Why the database does not do what it was asked. */
export const databaseText = texts(
  {
    away: 'The database is away; try again in a moment.',
    read_only:
      'Only the read-only database key is configured. Paste the service key in Settings > Service Key.',
  },
  {
    away: 'Veritabanına şu an ulaşılamıyor; birazdan yeniden deneyin.',
    read_only:
      'Yalnızca okuyan veritabanı anahtarı kullanılıyor. Servis anahtarını Ayarlar > Servis anahtarı bölümüne yapıştırın.',
  },
)
