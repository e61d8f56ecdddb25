package io.github.pulsarspark.schema.json

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.util.{Arrays, HashMap => JHashMap}

/** Copies the members of an object that are wanted, as they stand, so that the others need not become tokens. Those are
  * passed over as Avro's are: it is found where they end, not whether they hold what they should. Not thread-safe.
  *
  * @param names
  *   of members in the order that is likely
  */
private[schema] final class JsonPruner(names: Array[String], isWanted: Array[Boolean]) {
  import JsonPruner._

  private val quoted = names.map(name => s"\"$name\"".getBytes(UTF_8))
  private val index  = new JHashMap[String, Integer](2 * names.length)
  names.indices.foreach(i => index.put(new String(names(i).getBytes(UTF_8), ISO_8859_1), i))

  // Read once, not for each byte.
  private val inStrings = InStrings
  private val inScalars = InScalars

  private var bytes = Array.emptyByteArray
  private var end   = 0
  private var kept  = new Array[Byte](1024)
  private var size  = 0

  /** An object of the wanted members is in [[result]], up to [[resultSize]], until the next call. False for anything
    * that is not plainly an object: a parser must tell what it is and what is wrong with it.
    */
  def prune(from: Array[Byte], offset: Int, length: Int): Boolean = {
    bytes = from
    end = offset + length
    size = 0
    var at = afterSpace(offset)
    if (!isAt(at, '{')) false
    else {
      at = afterSpace(at + 1)
      var guess  = 0
      var isOpen = !isAt(at, '}')
      while (isOpen && at != Unclear) {
        val begin = at
        var found = guess
        if (isHere(guess, at)) at += quoted(guess).length
        else {
          at = if (isAt(at, '"')) afterString(at) else Unclear
          found = if (at == Unclear) Unknown else lookUp(begin + 1, at - 1)
          if (found == Unclear) at = Unclear
        }
        if (at != Unclear) at = afterValue(at)
        if (at != Unclear) {
          if (found >= 0) {
            if (isWanted(found)) keep(begin, at)
            guess = found + 1
          }
          at = afterSpace(at)
          if (isAt(at, ',')) at = afterSpace(at + 1)
          else {
            isOpen = false
            if (!isAt(at, '}')) at = Unclear
          }
        }
      }
      if (at != Unclear) close()
      at != Unclear
    }
  }

  def result: Array[Byte] = kept
  def resultSize: Int     = size

  private def keep(from: Int, until: Int): Unit = {
    val length = until - from
    if (kept.length - size < length + 2) kept = Arrays.copyOf(kept, math.max(2 * kept.length, size + length + 2))
    kept(size) = if (size == 0) '{' else ','
    System.arraycopy(bytes, from, kept, size + 1, length)
    size += length + 1
  }

  private def close(): Unit = {
    if (size == 0) {
      kept(0) = '{'
      size = 1
    }
    kept(size) = '}'
    size += 1
  }

  private def isAt(at: Int, b: Char) = at < end && bytes(at) == b

  private def afterSpace(at: Int): Int = {
    var i = at
    while (i < end && isSpace(bytes(i))) i += 1
    i
  }

  private def isSpace(b: Byte) = b <= ' ' && (b == ' ' || b == '\n' || b == '\r' || b == '\t')

  /** Writers keep to one order, so the name after the last one found is the first guess. */
  private def isHere(guess: Int, at: Int): Boolean = guess < quoted.length && {
    val name = quoted(guess)
    at + name.length <= end && Arrays.equals(bytes, at, at + name.length, name, 0, name.length)
  }

  private def lookUp(from: Int, until: Int): Int = {
    val name = new String(bytes, from, until - from, ISO_8859_1)
    if (name.indexOf('\\') >= 0) Unclear else index.getOrDefault(name, Unknown)
  }

  /** Behind the colon and the value, before which there may be space. */
  private def afterValue(at: Int): Int = {
    val colon = afterSpace(at)
    val from  = afterSpace(colon + 1)
    if (!isAt(colon, ':') || from >= end) Unclear
    else
      bytes(from) match {
        case '"'       => afterString(from)
        case '{' | '[' => afterContainer(from)
        case _         => afterScalar(from)
      }
  }

  private def afterScalar(from: Int): Int = {
    var i = from
    while (i < end && inScalars(bytes(i) & 0xff)) i += 1
    if (i > from) i else Unclear
  }

  private def afterString(from: Int): Int = {
    var i = from + 1
    while (i < end && inStrings(bytes(i) & 0xff)) i += (if (bytes(i) == '\\') 2 else 1)
    if (isAt(i, '"')) i + 1 else Unclear
  }

  private def afterContainer(from: Int): Int = {
    var i      = from
    var depth  = 0
    var arrays = 0L // which of those that are open are arrays, the innermost last
    while ({
      bytes(i) match {
        case '"'             => i = afterString(i)
        case b @ ('{' | '[') =>
          depth += 1
          arrays = (arrays << 1) | (if (b == '[') 1 else 0)
          i = if (depth <= MaxDepth) i + 1 else Unclear
        case b @ ('}' | ']') =>
          i = if ((arrays & 1) == (if (b == ']') 1 else 0)) i + 1 else Unclear
          depth -= 1
          arrays >>>= 1
        case _ => i += 1
      }
      i != Unclear && depth > 0 && i < end
    }) ()
    if (depth == 0) i else Unclear
  }
}

private[schema] object JsonPruner {
  private val Unknown: Integer = -1
  private val Unclear          = -2
  private val MaxDepth         = 64

  private val InStrings = Array.tabulate(256)(b => b >= ' ' && b != '"')
  private val InScalars = Array.tabulate(256)(b => b < 128 && (b.toChar.isLetterOrDigit || "+-.".indexOf(b) >= 0))

  /** @param written
    *   all the names that objects have, as far as it is known
    * @return
    *   None where so many are wanted that leaving out the rest would not be worth it
    */
  def apply(written: Seq[String], wanted: Seq[String]): Option[JsonPruner] = {
    val names = (written ++ wanted).distinct
    Option.when(wanted.size * 2 <= names.size)(new JsonPruner(names.toArray, names.map(wanted.contains(_)).toArray))
  }
}
