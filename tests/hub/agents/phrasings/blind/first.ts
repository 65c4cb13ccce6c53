import type { Tasks } from './tasks.ts'

export const FIRST: Tasks = {
  en: {
    research: [
      'can u get me 10 freight forwarders around rotterdam w/ contact emails',
      'who are the bigger players in cold storage in poland',
      "dig up whatever you can on mark grant's company before thursday",
    ],
    web_research: [
      'check what arkas.com.tr says about their fleet size',
      'their site must mention opening hours, go see',
    ],
    marketing: [
      'drop anna a line that the samples shipped today',
      'need a short follow up for the guys who went quiet after the fair',
      'can you make the last mail to Tom sound less pushy',
    ],
    sales: [
      'calling borusan at 2, what do i open with',
      'they keep saying competitor is 15% cheaper. give me comebacks',
      'put a two page proposal together for hotel marina, 40 rooms',
    ],
    engineer: [
      'code/import.py dies with a KeyError, have a look',
      'little script to dedupe a csv by email pls',
      'turn calc.js into typescript',
    ],
    engineer_system: [
      'the hub itself needs a dark calendar view, change its code',
      'can the hub show the tags on the board cards? patch it',
    ],
    docs: [
      'write up how we onboard a new client, step by step',
      'minutes from todays call: (notes attached)',
      'one page about our company for the trade fair booth',
    ],
    finance: [
      'bill hotel marina for 12 nights at 85 eur',
      'whats left of the fair budget if the stand was 4200 and flights 900',
    ],
    legal: [
      'customer wants to walk out of the contract after 3 months, can he',
      'are we ok to buy an email list from that broker',
    ],
    data: [
      'how many replies did we get last week vs the week before',
      'top 10 cities by number of leads',
    ],
    pm: [
      'look at the missions that went wrong this week, what should we change',
      'marketing agent keeps writing too long, adjust its prompt',
    ],
    system: [
      'nothing goes out since this morning, is smtp dead',
      'model seems stuck, loading forever',
      'why is memory so high on this box',
    ],
    ceo: [
      'where do we want to be by q3, give me okrs',
      'germany or poland first? need a recommendation for the board',
    ],
  },
  tr: {
    research: [
      'bana ege bölgesinde zeytinyağı ihracatı yapan 15 firma lazım',
      'fuardan gelen kartvizitleri adaylara işle',
      'delta tarım kimdir necidir bi bak bakalım',
    ],
    web_research: [
      'www.polonez.com.tr yi gez ürün listesini çıkar',
      'sitelerine bi göz at kaç şubeleri var yazıyo mu',
      'müller gmbh web sayfasında referans olarak kimleri göstermiş',
    ],
    marketing: [
      'ayşe hanıma dünkü görüşme için teşekkür yazalım',
      'eski müşterilere bayram mesajı hazırlar mısın',
      'fiyat artışını müşterilere yumuşak bi dille duyuralım',
    ],
    sales: [
      'kargoline için 500 palet üzerinden teklif çalış',
      'müşteri düşünelim dediğinde ne demem lazım',
      'yarın arkasla toplantım var bana notlar hazırla',
    ],
    engineer: [
      'formdaki tarih alanı safari de bozuk düzeltsene',
      'excel deki telefon numaralarını +90 formatına çeviren makro yaz',
      'bana stok apisine bağlanan küçük bi istemci lazım',
    ],
    engineer_system: [
      'huba excel olarak dışarı aktarma butonu ekleyelim',
      'hubın kodunda taslak listesini hızlandır',
      "watchpost hub'ın arayüzüne filtre ekle",
    ],
    docs: [
      'yeni başlayan satışçı için bi el kitapçığı hazırla',
      'şu uzun metni yarım sayfaya indir',
      'depo sürecimizi anlatan bi doküman lazım',
    ],
    finance: [
      'delta tarıma 300 koli 45 liradan fatura kes',
      'kdv dahil ne tutar: 12 gün, günlüğü 650',
      'bu ay masraflar: kira 40 bin maaş 210 bin, tabloya dök',
    ],
    legal: [
      'kvkk açısından müşteri telefonlarını whatsapp grubunda paylaşmak sorun olur mu',
      'gizlilik sözleşmesi taslağı lazım, tedarikçi için',
      'iptal ederlerse kapora bizde kalır mı hukuken',
    ],
    data: [
      'kaç aday teklif aşamasında bekliyor',
      'geçen ay kimlere hiç yazmamışız listele',
      'hangi kaynaktan gelenler daha çok cevap veriyo',
    ],
    pm: [
      'bu hafta reddettiğim taslaklardan ne öğrendik',
      'ajanların çalışma şeklini bi gözden geçir neyi iyileştirelim',
      'onay bekleyen işler birikiyo, süreci nasıl hızlandırırız',
    ],
    system: [
      'disk doldu mu acaba bi kontrol et',
      'dün geceki yedek alınmış mı',
      'hub çok yavaşladı neden',
    ],
    ceo: [
      'önümüzdeki çeyrek için hedef koyalım',
      'yönetim kuruluna aylık özet raporu hazırla',
      'ihracata mı ağırlık verelim iç pazara mı, stratejik olarak',
    ],
  },
}
