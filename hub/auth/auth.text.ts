import { texts } from '../i18n/words.ts'

/** Why somebody is not let in. */
export const authText = texts(
  {
    unauthenticated: 'Sign in at /hub/, or send the local token (hub.token) as a bearer token.',
    wait: (seconds: number) => `Too many wrong attempts. Try again in ${seconds} s.`,
    set_up: 'The hub is set up already. Sign in with the password.',
    wrong_code: 'This is not the set-up code. `watchpost-hub status` shows where it stands.',
    wrong_password: 'This is not the password. `watchpost-hub reset-password` makes a new one.',
  },
  {
    unauthenticated:
      '/hub/ adresinde giriş yapın ya da yerel belirteci (hub.token) taşıyıcı belirteç olarak gönderin.',
    wait: (seconds) => `Çok fazla yanlış deneme yapıldı. ${seconds} sn sonra yeniden deneyin.`,
    set_up: 'Hub zaten kurulmuş. Parolayla giriş yapın.',
    wrong_code: 'Kurulum kodu bu değil. `watchpost-hub status` kodu gösterir.',
    wrong_password: 'Parola yanlış. `watchpost-hub reset-password` yenisini belirletir.',
  },
)
