"""How six languages ask to forget something, and what only looks like it: one row a language.

All patterns are over lower-case text whose Latin letters have no accents, except "é" at the end of a word.
"""

import re
from dataclasses import dataclass
from typing import Final

MAX_OBJECT_CHARS: Final = 200

_START: Final = r"(?:^|[,:(、—–]|\s-+\s)\s*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How a language asks to forget."""

    requests: tuple[re.Pattern[str], ...]
    """Each with a group `what`, and `polite` where the request is a question in form; `asked` is where it starts."""
    no_request: re.Pattern[str]
    """What stands before a request that is none: someone else's words, a condition."""
    negated: re.Pattern[str]
    """In what is asked for: it is not to be forgotten after all."""
    pronoun: re.Pattern[str]
    """All that is named is a pronoun, or nothing."""
    never_mind: re.Pattern[str]
    """Beside a pronoun: nothing is to be forgotten, only to be left."""
    stated: re.Pattern[str]
    """What is named is a statement, which only memory can forget."""
    ours: re.Pattern[str]
    """What is named may be something remembered."""
    general: re.Pattern[str]
    """What is named is anything of its kind, so that a polite question asks what is possible."""
    elsewhere: re.Pattern[str]
    """What is named is somewhere else than in memory."""


def _one_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


def _request(leads: str, form: str, *, gap: str = r"[\s,]+", starts: str = _START) -> re.Pattern[str]:
    """A request at the start of a clause, behind words that change nothing."""
    return re.compile(rf"(?:{starts})(?P<asked>)(?:(?:{leads}){gap}){{0,6}}(?:{form})")


_WHAT: Final = rf"(?P<what>.{{0,{MAX_OBJECT_CHARS}}})"
_NEVER: Final = re.compile(r"(?!)")

_EN_LEADS: Final = (
    r"please|pls|kindly|ok|okay|oh|well|hey|hi|hello|yes|no|nope|sorry|thanks|thank you|now|then|also|and|so|but|"
    r"actually|just|first|finally|instead|right|afterthought|go ahead and|feel free to|you (?:can|may|should|could)|"
    r"i(?:'d| would) rather you|i(?:'d| would) (?:like|prefer) (?:for )?you to|i (?:want|need|ask) you to"
)
_EN_VERBS: Final = (
    r"(?:forget(?![-\w])(?! me[- ]nots?\b)(?! to\b)|stop remembering|unremember|delete|remove|erase|wipe|drop|clear|"
    r"get rid of|(?:do not|don't|dont) (?:remember|keep|store|save))(?![-\w])"
)
_EN_START: Final = (
    _START
    + r"|^(?![^,]*\b(?:i|we|he|she|they|you|it|people|who|which|to|not|never|don't|can|will|might)\b[^,]*\sand\s)"
    r"[^,]*?\sand\s"
)
"""A second clause behind "and" is a request if the first is one too: not in "I read books and forget them"."""
_EN_MEMORY: Final = r"(?:memory|memories|notes?|facts?|profile|records?)"
_EN_SUFFIX: Final = (
    r"(?:\s(?:please|now|again|too|then|thanks|thank you|right away|immediately|completely|entirely|for good|forever|"
    rf"about me|from (?:your |my |the )?{_EN_MEMORY}|will you|would you|ok|okay))*"
)

ENGLISH: Final = Language(
    requests=(
        _request(_EN_LEADS, rf"{_EN_VERBS}{_WHAT}", starts=_EN_START),
        _request(
            _EN_LEADS,
            r"(?P<polite>(?:can|could) you(?: please| kindly| just| now)*|(?:would|will) you (?:please|kindly))"
            rf"\s{_EN_VERBS}{_WHAT}",
        ),
        _request(_EN_LEADS, rf"(?P<polite>would you mind)\s(?:forgetting|deleting|removing|erasing)(?!\w){_WHAT}"),
        _request(_EN_LEADS, rf"you (?:no longer|don't|do not) (?:need|have) to (?:remember|keep){_WHAT}"),
    ),
    no_request=_one_of(
        r"(?<!\bi )(?<!\bwe )(?<!\byou )\b(?:said|says|told|tells|asked|asks|wrote|writes|yelled|shouted|sings?|"
        r"replied|answered|reads)\b",
        r"^\s*(?:if|when|whenever|once|unless|before|after|until)\b",
    ),
    negated=_NEVER,
    pronoun=re.compile(
        r"(?:(?:all of |both of |every bit of )?(?:it|that|this|those|these|them)(?: one| ones| all)?|everything|all|"
        rf"me|us|the last (?:one|thing))?{_EN_SUFFIX}\s*"
    ),
    never_mind=_one_of(
        r"\b(?:never ?mind|nvm|no worries|(?:don't|do not|dont) worry|(?:does not|doesn't|doesnt) matter|no matter|"
        r"whatever|not (?:important|worth)|too late|i'll|i will|let's|we'll|no way|forget about (?:it|that|this))\b"
    ),
    stated=re.compile(
        r"(?:about )?(?:the fact )?(?:that |where |when |how |who |why )"
        r"(?:i|we|he|she|they|my|our|his|her|their|you)(?:'\w+)?\b(?! (?:asked|said anything|mentioned it))"
        r"|(?:about )?(?:the fact )?that (?:the|an?|all|every|no|each) \w"
    ),
    ours=re.compile(
        r"(?:about )?(?:(?:all|any|some|both|everything|anything|each|most)(?: of)?(?: the)?(?: \w+)? )?"
        r"(?:about |regarding |with )?(?:(?:my|our|me|us|mine)\b|\w+'s\b)|"
        r"(?:about )?(?:what(?:ever)?|everything|anything|all|the things?)(?: that)? (?:i|you|we)\b|"
        r"(?:about )?(?!an? )(?:[\w'-]+ ){0,3}?(?:facts?|notes?|memory|memories|preferences?|rules?|details?|info|"
        r"information|things?|birthday)\b|"
        r"(?:about )?the (?:[\w'-]+ ){1,4}?(?:i|we)(?:'ve)? (?:told|said|mentioned|gave|shared)\b|"
        r"the old (?:one|name|address|number|city|job)\b|"
        r"the (?:\w+ )?(?:name|address|number|birthday|date|age) of (?:my|our)\b|"
        rf".{{1,80}} from (?:your|my) {_EN_MEMORY}\b"
    ),
    general=re.compile(
        r"(?:about )?(?:any |some |other )?(?:things?|stuff|notes?|facts?|memory|memories|information|info|data|"
        r"details?|rules?|preferences?)\b|anything\b"
    ),
    elsewhere=_one_of(
        r"\b(?:files?|folders?|director(?:y|ies)|lines?|lists?|code|functions?|methods?|class(?:es)?|variables?|"
        r"commits?|branch(?:es)?|repos?|repository|rows?|columns?|tables?|databases?|arrays?|strings?|comments?|"
        r"paragraphs?|sentences?|words?|duplicates?|spaces?|apps?|photos?|pictures?|images?|threads?|chats?|"
        r"conversations?|accounts?|playlists?|tweets?|posts?|containers?|tests?|imports?|messages?|emails|questions?|"
        r"instructions?|prompts?|drafts?|essays?|texts?|letters?|documents?|cart|calendar|drives?|disks?|computer|"
        r"laptop|browser|history|cookies|cache|desktop|inbox|subscription|scripts?|loops?|characters?)\b",
        r"\bphone\b(?! number)|\bfor (?:a |one )?(?:moment|second|minute|now)\b",
    ),
)

_DE_LEADS: Final = (
    r"bitte|ok|okay|nun|jetzt|dann|also|und|aber|ach|nein|ja|hey|hallo|danke|gut|so|lieber|eigentlich|afterthought"
)
_DE_FILLERS: Final = r"(?:\s(?:bitte|mal|doch|einfach|jetzt|wieder|sofort|auch|ganz))*"
_DE_INFINITIVE: Final = r"(?<!\bzu)\s(?:vergessen|lo?e?schen|entfernen|streichen)\s*$"
_DE_MEMORY: Final = (
    r"(?:notiz(?:en)?|fakt(?:en)?|erinnerung(?:en)?|angaben?|vorlieben?|regeln?|eintrage?|info(?:s|rmation(?:en)?)?)"
)

GERMAN: Final = Language(
    requests=(
        _request(
            _DE_LEADS,
            r"(?:vergiss|vergesst|vergessen sie|lo?e?sche?(?!\w)|lo?e?schen sie|entferne?(?!\w)|entfernen sie|"
            rf"streiche?(?!\w)|streichen sie){_DE_FILLERS}(?!\w){_WHAT}",
        ),
        _request(
            _DE_LEADS,
            r"(?P<polite>(?:kannst|konntest|wurdest) du|(?:konnen|konnten|wurden) sie)"
            rf"{_DE_FILLERS}\s(?P<what>.{{1,120}}?){_DE_INFINITIVE}",
        ),
        _request(
            _DE_LEADS,
            rf"du (?:kannst|darfst|sollst|solltest){_DE_FILLERS}\s(?P<what>.{{1,120}}?){_DE_INFINITIVE}",
        ),
        _request(
            _DE_LEADS,
            r"ich (?:will|mochte|wunsche mir)\s?,? dass du\s(?P<what>.{1,120}?)\s(?:vergisst|lo?e?schst|entfernst)\b",
        ),
        _request("ok|okay", rf"bitte\s(?P<what>.{{1,120}}?){_DE_INFINITIVE}"),
        _request("ok|okay", rf"(?P<what>(?:mein|das|alles?|diese)\w*.{{0,80}}?) bitte{_DE_INFINITIVE}"),
        _request(
            _DE_LEADS,
            r"(?:merke? dir|merken sie sich|speichere?|behalte?)(?: bitte)?\s(?P<what>.{1,80}?)\snicht\b",
        ),
        _request(_DE_LEADS, rf"(?:erinnere? dich|denke?)(?: bitte)? nicht (?:mehr )?(?:an|daran)\b{_WHAT}"),
    ),
    no_request=_one_of(
        r"(?<!\bich )(?<!\bwir )(?<!\bdu )\b(?:sagte|sagt|meinte|meint|schrieb|schreibt|rief|fragte|antwortete|"
        r"singt)\b",
        r"\b(?:hat|haben) .{0,40}gesagt\b|^\s*(?:wenn|falls|sobald|bevor|nachdem)\b",
    ),
    negated=re.compile(r"\b(?:nicht|nie|niemals|keinesfalls)\b"),
    pronoun=re.compile(
        r"(?:(?:das|dies|es|sie|ihn|alles|mich|dieses|jenes|den|die)(?: alles)?(?: (?:bitte|wieder|jetzt|sofort|mal|"
        r"komplett|ganz|uber mich|aus deinem gedachtnis))*)?\s*"
    ),
    never_mind=_one_of(
        r"\b(?:egal|schon gut|macht nichts|nicht so wichtig|nicht wichtig|keine sorge|ich mach|ich mache|lass mal|"
        r"lass uns|vergiss es einfach)\b"
    ),
    stated=re.compile(
        r"(?:einfach )?(?:dass|wo|wann|wie|wer|warum) (?:ich|wir|er|sie|mein\w*|unser\w*|du|man)\b|"
        r"dass (?:der|die|das|ein|eine) \w"
    ),
    ours=re.compile(
        r"(?:alles |alle |samtliche )?(?:uber |von |an )?(?:mein\w*|mich|mir|uns|unser\w*)\b|"
        r"(?:alles|das)? ?was (?:ich|du|wir)\b|"
        rf"(?:diese\w?|die|den|das|alle|deine|jene\w?|letzten?|\w+en?) (?:\w+ )?{_DE_MEMORY}\b|alles uber mich|"
        r"\w+ geburtstag\b"
    ),
    general=re.compile(rf"(?:auch |etwas|irgend\w+ |uberhaupt )?(?:dinge|sachen|etwas|eine? |{_DE_MEMORY}\b)"),
    elsewhere=_one_of(
        r"\b(?:datei(?:en)?|ordner\w*|zeilen?|listen?|\w+listen?|code|funktion(?:en)?|methoden?|klassen?|variablen?|"
        r"commits?|branch|tabellen?|spalten?|kommentare?|absatz\w*|satz\w*|satze|worte?r?|duplikate|leerzeichen|apps?|"
        r"fotos?|bilder|bild|chats?|konto|konten|nachricht(?:en)?|fragen?|anweisung(?:en)?|texte?s?|dokumente?s?|"
        r"entwurf|handy|computer|festplatte|verlauf|unterhaltung|skript)\b",
        r"\bfur einen moment\b|\berst ?mal\b",
    ),
)

_ES_LEADS: Final = (
    r"por favor|porfa|porfavor|ok|vale|bueno|bien|ahora|entonces|pues|y|pero|tambien|oye|hola|no|si|mejor|gracias|"
    r"perdon|simplemente|afterthought"
)
_ES_OBJECT: Final = r"(?:lo|la|los|las|me|nos)"
_ES_NOUNS: Final = (
    r"(?:notas?|datos?|recuerdos?|hechos?|preferencias?|reglas?|informacion|detalles?|cosas?|memorias?|cumpleanos)"
)
_ES_WANT: Final = r"(?:quiero|necesito|me gustaria|te pido|prefiero) que"
_ES_WANTED: Final = r"(?:olvides|borres|elimines|quites|olvide|borre|elimine)"

SPANISH: Final = Language(
    requests=(
        _request(
            _ES_LEADS,
            r"(?:olvidate|olvidese|olvid[ae]|borr[ae]|elimin[ae]|quit[ae]|suprim[ae]|dej[ae] de recordar|"
            r"no (?:lo |la |me )?(?:recuerdes|recuerde|guardes|guarde|memorices)|no te acuerdes(?: mas)?)"
            rf"(?P<what>(?:{_ES_OBJECT}(?!\w))?(?!\w).{{0,{MAX_OBJECT_CHARS}}})",
        ),
        _request(_ES_LEADS, rf"{_ES_WANT} (?P<what>(?:lo |la |me )?){_ES_WANTED}\s*$"),
        _request(_ES_LEADS, rf"{_ES_WANT} (?:te )?{_ES_WANTED}(?: de)?(?!\w){_WHAT}"),
        _request(
            _ES_LEADS,
            r"(?P<polite>(?:me |te )?(?:puedes|podrias|puede|podria))(?:,? por favor,?)?\s"
            r"(?:olvidar|borrar|eliminar|quitar|suprimir)(?:te de)?"
            rf"(?P<what>(?:{_ES_OBJECT}(?!\w))?(?!\w).{{0,{MAX_OBJECT_CHARS}}})",
        ),
    ),
    no_request=_one_of(
        r"\b(?:dijo|dice|dijeron|dicen|escribio|escribe|grito|pregunto|respondio|canta)\b",
        r"^\s*(?:si (?!,)|cuando|antes de|despues de|en cuanto)",
    ),
    negated=_NEVER,
    pronoun=re.compile(
        rf"(?:de )?(?:{_ES_OBJECT}|eso|esto|aquello|esa|ese|todo|todo eso|todo esto)?"
        r"(?: (?:por favor|ya|ahora|todo|de tu memoria|de tus notas|sobre mi|para siempre|gracias))*\s*"
    ),
    never_mind=_one_of(
        r"\b(?:no importa|da igual|dejalo|no pasa nada|no te preocupes|ya lo hago|es igual|"
        r"olvidate de (?:eso|esto|ello))\b"
    ),
    stated=re.compile(r"(?:de )?(?:que (?!te\b)|donde |cuando |como |quien |por que )\w+"),
    ours=re.compile(
        r"(?:de )?(?:(?:todo|todos|todas)(?: lo)?(?: que)? ?(?:el |los |las )?)?(?:de |sobre |acerca de |a )?"
        r"(?:mis?|nuestr[oa]s?)\b|"
        r"(?:de )?(?:todo )?lo (?:que|de)\b|(?:de )?todo lo\b|"
        r"(?:de )?(?:esas?|esos?|ese|estas?|este|estos|la|el|las|los|tus?|todas?(?: las| tus)?|todos(?: los| tus)?) "
        rf"(?:\w+ )?{_ES_NOUNS}\b|(?:el|la) (?:nombre|direccion|numero|cumpleanos|edad) de mi\b"
    ),
    general=re.compile(rf"(?:una? |alguna? |las )?(?:{_ES_NOUNS}|algo)\b"),
    elsewhere=_one_of(
        r"\b(?:archivos?|ficheros?|carpetas?|lineas?|listas?|codigo|funcion(?:es)?|metodos?|clases?|variables?|"
        r"commits?|ramas?|filas?|columnas?|tablas?|comentarios?|parrafos?|frases?|oracion(?:es)?|palabras?|"
        r"duplicados?|espacios?|aplicacion|fotos?|imagen(?:es)?|chats?|conversacion|cuentas?|mensajes?|correos|"
        r"preguntas?|instrucciones|textos?|documentos?|borrador|ordenador|disco|historial)\b",
        r"\bpor un momento\b|\bpor ahora\b",
    ),
)

_FR_PLEASE: Final = r"s'il te plait|s'il vous plait|stp|svp"
_FR_LEADS: Final = (
    rf"{_FR_PLEASE}|ok|d'accord|bon|bien|maintenant|alors|donc|et|mais|puis|aussi|non|oui|he|salut|bonjour|merci|"
    r"pardon|plutot|finalement|afterthought"
)
_FR_POLITE: Final = (
    r"(?P<polite>peux[- ]tu|pourrais[- ]tu|pouvez[- ]vous|pourriez[- ]vous|(?:est-ce que )?tu (?:peux|pourrais)|"
    rf"(?:est-ce que )?vous (?:pouvez|pourriez))(?:,? (?:{_FR_PLEASE}),?)?\s"
)
_FR_INFINITIVE: Final = r"(?:oublier|effacer|supprimer|enlever|retirer)"
_FR_OBJECT: Final = r"(?:-(?:le|la|les|moi|ca|nous))"
_FR_NOUNS: Final = (
    r"(?:notes?|faits?|souvenirs?|preferences?|regles?|informations?|infos?|details?|choses?|anniversaire)"
)

FRENCH: Final = Language(
    requests=(
        _request(
            _FR_LEADS,
            r"(?:oublie|oubliez|efface|effacez|supprime|supprimez|enleve|enlevez|retire|retirez)"
            rf"(?P<what>{_FR_OBJECT}?(?![-\w]).{{0,{MAX_OBJECT_CHARS}}})",
        ),
        _request(
            _FR_LEADS,
            r"(?:ne |n')?(?:(?:te )?souviens(?:-toi)? plus|retiens (?:pas|plus)|retenez (?:pas|plus)|"
            r"garde (?:pas|plus)|memorise (?:pas|plus)|enregistre pas|(?:arrete|cesse) de (?:te souvenir|retenir))"
            rf"(?: de| d'|(?!\w)){_WHAT}",
        ),
        _request(_FR_LEADS, rf"{_FR_POLITE}(?P<what>(?:l'|le |la |les |m')?){_FR_INFINITIVE}\s*$"),
        _request(_FR_LEADS, rf"{_FR_POLITE}{_FR_INFINITIVE}(?!\w){_WHAT}"),
        _request(
            _FR_LEADS,
            r"(?:je (?:veux|voudrais|souhaite)|j'aimerais) que (?:tu|vous) "
            rf"(?:oublies|oubliiez|effaces|effaciez|supprimes|supprimiez)(?!\w){_WHAT}",
        ),
    ),
    no_request=_one_of(
        r"\b(?:il|elle|on|ils|elles|\w+) (?:a dit|dit|disait|ont dit|disent|ecrit|a ecrit|repond|crie|chante)\b",
        r"^\s*(?:si |quand |lorsque |des que |avant |apres )",
    ),
    negated=re.compile(r"^(?:surtout )?(?:pas|jamais)\b"),
    pronoun=re.compile(
        rf"(?:{_FR_OBJECT}|l'|le|la|les|m'|ca|cela|ceci|tout|tout ca|tout cela)?"
        rf"(?: (?:{_FR_PLEASE}|maintenant|tout|de ta memoire|de tes notes|sur moi|merci))*\s*"
    ),
    never_mind=_one_of(
        r"\b(?:laisse tomber|peu importe|c'est pas grave|ce n'est pas grave|tant pis|ne t'inquiete pas|t'inquiete|"
        r"je le ferai)\b"
    ),
    stated=re.compile(
        r"(?:le fait )?(?:que |qu'|ou |quand |comment |qui |pourquoi )"
        r"(?:j'|je|nous|on|il|elle|mon|ma|mes|tu|ils)"
    ),
    ours=re.compile(
        r"(?:tout |tous |toutes |toute )?(?:de |sur |a propos de |au sujet de |a )?"
        r"(?:mon|ma|mes|moi|notre|nos|nous)\b|"
        r"(?:tout )?ce (?:que|qu'|qui)|tout (?:ce|sur|a propos)\b|"
        r"(?:cette|ces|ce|cet|la|le|les|tes|ta|toutes (?:les|tes|ces)|tous (?:les|tes|ces)) "
        rf"(?:\w+ )?{_FR_NOUNS}\b|"
        r"(?:l'anniversaire|l'adresse|l'age|le nom|le numero) de (?:mon|ma|mes)\b|l'ancienne? (?:adresse|nom|numero)\b"
    ),
    general=re.compile(rf"(?:une? |des |les )?(?:{_FR_NOUNS}|trucs?|quelque chose)\b"),
    elsewhere=_one_of(
        r"\b(?:fichiers?|dossiers?|lignes?|listes?|code|fonctions?|methodes?|classes?|variables?|commits?|branches?|"
        r"colonnes?|tableaux?|commentaires?|paragraphes?|phrases?|mots?|doublons?|espaces?|applis?|applications?|"
        r"photos?|images?|chats?|conversations?|comptes?|messages?|questions?|instructions?|textes?|documents?|"
        r"brouillons?|ordinateur|disque|historique)\b",
        r"\bpour l'instant\b|\bun (?:moment|instant)\b",
    ),
)

_RU_LEADS: Final = (
    r"пожалуйста|плиз|ладно|ок|окей|хорошо|теперь|тогда|и|а|но|так|просто|лучше|нет|да|слушай|ну|давай|спасибо|привет|"
    r"извини|уже|ещ[её]|вс[её]-таки|ты можешь"
)
_RU_MEMORY: Final = (
    r"(?:факт|заметк|запис|воспоминани|предпочтени|правил|информаци|данны|сведени|вещ|дн[ея] рождени)\w*"
)
_RU_PRONOUN: Final = r"это|эту|этот|эти|его|е[её]|их|вс[её]|вс[её] это|то|меня|об этом"
_RU_FORGET: Final = (
    r"(?:забудь(?:те)?|забывай|удали(?:те)?|удаляй(?:те)?|сотри(?:те)?|стирай|убери(?:те)?|вычеркни(?:те)?|"
    r"(?:больше )?не (?:запоминай|помни|храни|сохраняй|записывай)(?:те)?|перестань(?:те)? помнить)"
)

RUSSIAN: Final = Language(
    requests=(
        _request(_RU_LEADS, rf"{_RU_FORGET}(?:-ка)?(?![-\w])(?: пожалуйста)?{_WHAT}"),
        _request(
            _RU_LEADS,
            r"(?P<polite>(?:не )?(?:можешь|можете|мог(?:ла)? бы|могли бы)(?: ли)?(?: ты| вы)?)(?:,? ?пожалуйста,?)?\s"
            rf"(?:забыть|удалить|стереть|убрать)(?!\w){_WHAT}",
        ),
        _request(
            _RU_LEADS,
            r"(?:я )?(?:хочу|прошу|хотел бы|хотела бы|нужно)\s?,? "
            r"(?:(?:чтобы|чтоб) (?:ты|вы) (?:забыл|удалил|ст[её]р)[аи]?|"
            rf"(?:тебя |вас )?(?:забыть|удалить|стереть))(?!\w){_WHAT}",
        ),
        _request(
            _RU_LEADS,
            rf"(?P<what>(?:{_RU_PRONOUN}|мо(?:й|ю|и|[её]) [^,]{{1,40}}?))(?: пожалуйста)? "
            r"(?:забудь|удали|сотри)(?:те)?(?!\w)",
        ),
    ),
    no_request=_one_of(
        r"\b(?:сказал[аи]?|говорит|говорят|написал[аи]?|пишет|крикнул[аи]?|спросил[аи]?|ответил[аи]?|по[её]т)\b",
        r"^\s*(?:если|когда|как только|прежде чем)\b",
    ),
    negated=_NEVER,
    pronoun=re.compile(rf"(?:{_RU_PRONOUN})?(?: (?:пожалуйста|сейчас|совсем|навсегда|обо мне|из памяти|уже))*\s*"),
    never_mind=_one_of(
        r"\b(?:неважно|не важно|ладно|проехали|не надо|ничего страшного|не переживай|не бери в голову|я сама?|"
        r"забудь(?:те)? (?:об|про) этом?)\b"
    ),
    stated=re.compile(
        r"(?:о том |то )?,? ?(?:что|где|когда|как|кто|почему) "
        r"(?:я|мы|он|она|они|мо\w+|у меня|у нас|меня|мне|ты)\b"
    ),
    ours=re.compile(
        r"(?:вс[её] )?(?:о |об |обо |про )?(?:мо(?:й|я|[её]|и|ю|его|ей|им|их|ем|[её]м)|наш\w*|меня|мне|нас)\b|"
        r"вс[её] ?,? ?(?:что (?:я|ты|знаешь)|о чем|обо мне|про меня)|"
        rf"(?:о |об |про )?(?:эт\w+ |т[оуе]\w* |все |твои |последн\w+ |стар\w+ ){{1,2}}{_RU_MEMORY}|"
        rf"{_RU_MEMORY} обо мне"
    ),
    general=re.compile(rf"(?:что-нибудь|что-то|какие-\w+ |вещи|{_RU_MEMORY}(?! обо))"),
    elsewhere=_one_of(
        r"\b(?:файл|папк|строк|строч|списк|список|код|функци|метод|класс|переменн|коммит|ветк|таблиц|столб|колонк|"
        r"комментари|абзац|предложени[ея]\b|слов|дубл|пробел|приложени|фото|картин|изображени|чат|переписк|разговор|"
        r"аккаунт|уч[её]тн|сообщени|вопрос|инструкц|текст|документ|чернов|компьютер|диск|истори)\w*",
        r"\bна (?:минуту|секунду|время)\b|\bпока\b",
    ),
)

_ZH_LEADS: Final = (
    r"请你?|請你?|麻烦你?|麻煩你?|帮我|幫我|给我|給我|那就|那么|那|现在|現在|就|都|快|好的?|嗯|不|对了|所以|但|而且|也|顺便|你可以|"
    r"我(?:想|要|希望)(?:让|讓|请)?你|拜托"
)
_ZH_VERB: Final = r"(?:忘记|忘記|忘掉|删除|刪除|删掉|刪掉|删了|刪了|清除|抹去|抹掉|去掉)"
_ZH_LAST: Final = r"(?:忘记|忘記|忘掉|忘了|删除|刪除|删掉|刪掉|删了|刪了|清除|抹去|抹掉|去掉)"
_ZH_PRONOUN: Final = (
    r"(?:它|这个?|這個?|那个?|這些|这些|那些|这件事|那件事|这一切|一切|全部|所有|所有的?|刚才的|这条|那条|我)"
)
_ZH_MEMORY: Final = r"(?:记忆|記憶|笔记|筆記|信息|資訊|资料|資料|事实|偏好|规则|事情?|东西|记录|生日)"
_ZH_GAP: Final = r"[\s,]*"

CHINESE: Final = Language(
    requests=(
        _request(_ZH_LEADS, rf"{_ZH_VERB}(?!了?[吗嗎没沒]){_WHAT}", gap=_ZH_GAP),
        _request(_ZH_LEADS, rf"忘了(?=吧|它|这|那|這){_WHAT}", gap=_ZH_GAP),
        _request(
            _ZH_LEADS,
            rf"(?:别|別|不要|不用|不必)再?(?:记|記|保存|存储)(?!错|錯|恨|仇)(?:住|录|錄|得|下来)?{_WHAT}",
            gap=_ZH_GAP,
        ),
        _request(
            _ZH_LEADS,
            rf"(?:把|将|將)(?P<what>[^,]{{1,40}}?)(?:都|全部|全|给我|从你的记忆(?:中|里))*{_ZH_LAST}",
            gap=_ZH_GAP,
        ),
        _request(
            _ZH_LEADS,
            r"(?P<polite>你?(?:能不能|可不可以|能否|可否|可以|能))(?:请|帮我|幫我)*"
            rf"(?:把(?=[^,]{{1,40}}?{_ZH_LAST})|{_ZH_VERB}){_WHAT}",
            gap=_ZH_GAP,
        ),
    ),
    no_request=_one_of(r"(?:说|說|写道|問|问|喊|唱|回答)道?[\s,:]*$", r"^\s*(?:如果|要是|假如|等到|当)"),
    negated=_NEVER,
    pronoun=re.compile(rf"(?:{_ZH_PRONOUN})?(?:{_ZH_LAST})?(?:吧|了|好吗|好嗎|可以吗|吗|嗎|谢谢|請|请|掉|\s)*"),
    never_mind=_one_of(r"算了|没关系|沒關係|不要紧|无所谓|没事|不重要"),
    stated=re.compile(
        r"我(?:们|們)?(?:很|不|也|曾|已经|以前|最|刚才?)*(?:喜欢|喜歡|爱|愛|讨厌|怕|住|在|是|有|说|說|叫|想|会|要|吃|喝|养|养了|去|搬|告诉|"
        r"告訴|对|跟|用|学|觉得|过敏)"
    ),
    ours=re.compile(
        r"(?:关于|關於|有关|所有|全部|一切)*(?:的)?(?:我(?:们|們)?的?|咱们的?)|(?:你(?:记|記|知道|保存|存)|刚才|剛才|之前)|"
        rf"(?:这|那|這|所有|全部|你的?)[\u4e00-\u9fff]{{0,4}}?(?:关于我)?的?{_ZH_MEMORY}"
    ),
    general=re.compile(rf"(?:一些|某些|任何)?{_ZH_MEMORY}"),
    elsewhere=_one_of(
        r"文件|檔案|文档|行|代码|代碼|程序|列表|清单|函数|函數|变量|表格|数组|数据库|段落|句子|句话|单词|重复|重複|空格|照片|图片|账号|"
        r"帐号|账户|聊天|对话|消息|问题|指令|文章|草稿|历史|电脑"
    ),
)

LANGUAGES: Final = (ENGLISH, GERMAN, SPANISH, FRENCH, RUSSIAN, CHINESE)
