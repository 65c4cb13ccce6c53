import { texts } from '../i18n/words.ts'

/** Why signing in or setting up is refused. */
export const authText = texts(
  {
    unauthenticated: 'Sign in at /hub/, or send the local token (hub.token) as a bearer token.',
    needs_key: 'Send an API key as a bearer token. Settings > API keys makes one.',
    only_proposes:
      'This key can read, and propose leads, notes, drafts and missions. A person does the rest in the hub.',
    wait: (seconds: number) => `Too many wrong attempts. Try again in ${seconds} s.`,
    set_up: 'The hub is already set up. Sign in with the password.',
    wrong_code: 'The set-up code is wrong. `watchpost-hub status` shows it.',
    wrong_own_password:
      'The password is wrong. If you have forgotten it, ask an admin for a new link.',
    wrong_password:
      'The password is wrong. If you have forgotten it, run `watchpost-hub reset-password` on the server.',
  },
  {
    unauthenticated:
      '/hub/ adresinde giriş yapın ya da yerel belirteci (hub.token) taşıyıcı belirteç olarak gönderin.',
    needs_key:
      'Taşıyıcı belirteç olarak bir API anahtarı gönderin. Ayarlar > API anahtarları oluşturur.',
    only_proposes:
      'Bu anahtar okuyabilir; aday, not, taslak ve görev önerebilir. Gerisini bir kişi hub’da yapar.',
    wait: (seconds) => `Çok fazla yanlış deneme yapıldı. ${seconds} sn sonra yeniden deneyin.`,
    set_up: 'Hub’ın kurulumu zaten yapılmış. Parolayla giriş yapın.',
    wrong_code: 'Kurulum kodu yanlış. `watchpost-hub status` kodu gösterir.',
    wrong_own_password: 'Parola yanlış. Unuttuysanız bir yöneticiden yeni bir bağlantı isteyin.',
    wrong_password:
      'Parola yanlış. Unuttuysanız sunucuda `watchpost-hub reset-password` komutunu çalıştırın.',
  },
)
