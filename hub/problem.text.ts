import { texts } from './words.ts'

/** What a code means, for a refusal whose own sentence is in English alone. */
export const problemText = texts(
  {
    codes: {
      malformed: 'The request was malformed.',
      invalid_query: 'The filter is not valid.',
      invalid_cursor: 'The list has changed. Reload it.',
      unauthenticated: 'Sign in again.',
      read_only_key: 'Changes need the service key. Paste it in Settings > Service Key.',
      license_limit: 'The licence does not allow more. See Settings > Licence; nothing is lost.',
      forbidden: 'Another page sent this request. Open the hub itself.',
      not_found: 'It is not there. It may have been deleted.',
      method_not_allowed: 'That is not possible here.',
      conflict: 'It conflicts with what is stored.',
      wrong_state: 'It is in another state now. Reload to see it.',
      audience_changed: 'The recipients have changed since the approval. Approve it again.',
      too_large: 'The file or text is too large.',
      unsupported_media_type: 'That kind of file is not taken here.',
      invalid: 'Some fields need another look.',
      rate_limited: 'Too many attempts. Wait a moment, then try again.',
      internal: 'Something went wrong in the hub. Try again; its log has the request.',
      unavailable: 'The database or the model is away. Try again in a moment.',
    },
    kinds: {
      too_small: 'This is too short, or missing.',
      too_big: 'This is too long.',
      invalid_format: 'This has not the right form.',
      invalid_type: 'This is needed.',
      invalid_value: 'This is none of the possible values.',
      mismatch: 'This does not match.',
      wrong: 'This is not right.',
      required: 'This is needed.',
      other: 'This cannot be taken.',
    },
  },
  {
    codes: {
      malformed: 'İstek bozuk.',
      invalid_query: 'Süzgeç geçerli değil.',
      invalid_cursor: 'Liste değişti. Yenileyin.',
      unauthenticated: 'Yeniden giriş yapın.',
      read_only_key:
        'Değişiklik için servis anahtarı gerekir. Ayarlar > Servis anahtarı bölümüne yapıştırın.',
      license_limit:
        'Lisans daha fazlasına izin vermiyor. Ayarlar > Lisans bölümüne bakın; hiçbir şey kaybolmaz.',
      forbidden: 'Bu isteği başka bir sayfa gönderdi. Hub’ın kendisini açın.',
      not_found: 'Bulunamadı. Silinmiş olabilir.',
      method_not_allowed: 'Burada bu yapılamaz.',
      conflict: 'Kayıtlı olanla çakışıyor.',
      wrong_state: 'Durumu değişmiş. Görmek için yenileyin.',
      audience_changed: 'Onaydan sonra alıcılar değişti. Yeniden onaylayın.',
      too_large: 'Dosya ya da metin çok büyük.',
      unsupported_media_type: 'Bu tür dosya burada kabul edilmiyor.',
      invalid: 'Bazı alanlara yeniden bakın.',
      rate_limited: 'Çok fazla deneme yapıldı. Biraz bekleyip yeniden deneyin.',
      internal: 'Hub’da bir sorun oluştu. Yeniden deneyin; kaydı günlükte.',
      unavailable: 'Veritabanı ya da model şu an yok. Birazdan yeniden deneyin.',
    },
    kinds: {
      too_small: 'Çok kısa ya da boş.',
      too_big: 'Çok uzun.',
      invalid_format: 'Biçimi doğru değil.',
      invalid_type: 'Bu gerekli.',
      invalid_value: 'Olası değerlerden biri değil.',
      mismatch: 'Eşleşmiyor.',
      wrong: 'Doğru değil.',
      required: 'Bu gerekli.',
      other: 'Bu kabul edilemedi.',
    },
  },
)

/** What the schemas say of a field themselves; a schema takes its message from the English half. */
export const fieldText = texts(
  {
    slug: 'Use 2 to 41 of a-z, 0-9 and -, not beginning with -.',
    no_email: 'This is no e-mail address.',
    unnamed: 'Give at least one of name, email and company.',
    no_address: 'This is no http or https address.',
    no_change: 'Say what to do: stage, add_tags, remove_tags, or delete alone.',
    tag: 'A tag has 1 to 60 characters, no comma or semicolon.',
    colour: 'Write a colour as #rrggbb.',
  },
  {
    slug: 'a-z, 0-9 ve - içinden 2 ila 41 karakter kullanın; - ile başlamasın.',
    no_email: 'Bu bir e-posta adresi değil.',
    unnamed: 'Ad, e-posta ve şirketten en az birini yazın.',
    no_address: 'Bu bir http ya da https adresi değil.',
    no_change: 'Ne yapılacağını yazın: stage, add_tags, remove_tags ya da tek başına delete.',
    tag: 'Bir etiket 1 ila 60 karakterdir; virgül ve noktalı virgül içermez.',
    colour: 'Rengi #rrggbb biçiminde yazın.',
  },
)
