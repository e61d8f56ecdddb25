package io.github.pulsarspark.options

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

/** Options as the user gave them, not yet checked. Has no value in its text.
  *
  * @param fieldsOf
  *   the names of the Pulsar client's own settings under a prefix
  * @param session
  *   those of `raw` that were set for a whole session, which reads and writes: what has no meaning in one of them is left out of it
  */
private[pulsarspark] final class RawOptions(
    raw: JMap[String, String],
    fieldsOf: String => Seq[String],
    session: Map[String, String] = Map.empty
) {

  private val values = raw.asScala.toMap

  def get(key: String): Option[String] = values.collectFirst { case (k, v) if k.equalsIgnoreCase(key) => v }

  def check(scopes: Scope*): CheckedOptions = {
    def isAside(key: String, value: String) = session.get(key).contains(value) &&
      !OptionRegistry.scopesOf(key).forall(_.exists(scopes.contains))
    CheckedOptions(values.filterNot { case (key, value) => isAside(key, value) }, scopes, fieldsOf)
  }

  override def toString: String = values.keys.toSeq.sorted.mkString("RawOptions(", ", ", ")")
}
