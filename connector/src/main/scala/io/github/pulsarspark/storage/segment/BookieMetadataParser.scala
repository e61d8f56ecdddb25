package io.github.pulsarspark.storage.segment

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64
import java.util.regex.Pattern

import scala.collection.mutable
import scala.util.Try

/** Reads the text that the admin API reports for a ledger's metadata (`LedgerMetadata.toSafeString` of BookKeeper). It
  * is no contract, so whatever is not exactly as expected is refused.
  *
  * The texts of most ledgers of a topic differ in nothing but their sizes. Such ledgers share a result, so that a plan
  * of a million ledgers neither parses nor keeps one for each. Used by one thread at a time.
  */
private[storage] final class BookieMetadataParser {
  import BookieMetadataParser._

  private val known = mutable.HashMap.empty[String, Either[String, BookieLocation]]

  /** Parses the metadata of a ledger. Left: the reason why the text is not understood. */
  def parse(text: String): Either[String, BookieLocation] = {
    val common = withoutSizes(text)
    known.getOrElse(
      common, {
        val parsed = parseAll(text)
        if (parsed.isRight) known.put(common, parsed)
        parsed
      }
    )
  }

  private def parseAll(text: String): Either[String, BookieLocation] = parts(text) match {
    case Some((head, listed, custom)) =>
      val fields = Comma.split(head).map(_.split("=", 2)).collect { case Array(key, value) => key -> value }.toMap
      for {
        parsed <- parseEnsembles(listed)
        ledger <- Try(BookieLocation(
          fields("formatVersion").toInt,
          fields("ensembleSize").toInt,
          fields("writeQuorumSize").toInt,
          fields("ackQuorumSize").toInt,
          fields("digestType").intern,
          parsed,
          custom.flatMap(managedLedger)
        )).toEither.left.map(_ => s"its metadata is not understood: $text")
        _ <- Either.cond(isSound(ledger), (), s"its metadata is not sound: $text")
      } yield ledger
    case None => Left(s"its metadata is not understood: $text")
  }
}

private object BookieMetadataParser {
  private val Begin     = "LedgerMetadata{"
  private val Ensembles = ", ensembles={"
  private val Custom    = ", customMetadata={"
  private val Owner     = "pulsar/managed-ledger=base64:"
  private val Comma     = Pattern.compile(", ")
  private val Between   = Pattern.compile("\\], ")
  private val Length    = ", length="
  private val LastEntry = ", lastEntryId="

  /** The text without the fields of its size, if they are in its head, one after the other. */
  private def withoutSizes(text: String): String = {
    val begin  = text.indexOf(Length)
    val middle = afterDigits(text, begin + Length.length)
    val end    = afterDigits(text, middle + LastEntry.length)
    val isHead = begin >= 0 && end <= text.indexOf(Ensembles)
    if (isHead && text.startsWith(LastEntry, middle) && text.startsWith(", ", end))
      text.substring(0, begin) + text.substring(end)
    else text
  }

  private def afterDigits(text: String, from: Int): Int = {
    val end = text.indexWhere(c => c < '0' || c > '9', from)
    if (end < 0) text.length else end
  }

  /** Splits the text into the part before the ensembles, the ensembles, and the part after them. */
  private def parts(text: String): Option[(String, String, Option[String])] = {
    val ensembles = text.indexOf(Ensembles)
    val end       = text.indexOf("]}", ensembles) + 1
    if (!text.startsWith(Begin) || !text.endsWith("}") || ensembles < 0 || end == 0 || end + 1 == text.length) None
    else {
      val head = text.substring(Begin.length, ensembles)
      val all  = text.substring(ensembles + Ensembles.length, end)
      text.substring(end + 1, text.length - 1) match {
        case ""                                                    => Some((head, all, None))
        case rest if rest.startsWith(Custom) && rest.endsWith("}") =>
          Some((head, all, Some(rest.substring(Custom.length, rest.length - 1))))
        case _ => None
      }
    }
  }

  /** `0=[bookie, bookie], 245=[bookie, bookie]`; names are kept once in this JVM. */
  private def parseEnsembles(text: String): Either[String, Seq[(Long, Seq[String])]] = {
    val parsed = Between.split(text.stripSuffix("]")).toSeq.map(_.split("=", 2)).collect { case Array(first, bookies) =>
      first.toLongOption.getOrElse(-1L) -> Comma.split(bookies.stripPrefix("[")).toSeq.map(_.intern)
    }
    val rendered = parsed.map { case (first, bookies) => s"$first=${bookies.mkString("[", ", ", "]")}" }.mkString(", ")
    val plain    = parsed.forall(_._2.forall(_.forall(c => c != '[' && c != ']' && c != '=')))
    Either.cond(rendered == text && plain, parsed.sortBy(_._1), s"its ensembles are not understood: $text")
  }

  private def isSound(ledger: BookieLocation): Boolean =
    ledger.ensembles.head._1 == 0 && ledger.ensembles.forall(_._2.size == ledger.ensembleSize) &&
      ledger.ackQuorum >= 1 && ledger.ackQuorum <= ledger.writeQuorum && ledger.writeQuorum <= ledger.ensembleSize

  private def managedLedger(custom: String): Option[String] =
    Comma.split(custom).find(_.startsWith(Owner)).map(pair =>
      new String(Base64.getDecoder.decode(pair.substring(Owner.length)), UTF_8)
    )
}
