package io.github.pulsarspark.schema.keyvalue

import java.util.Locale

/** Requested properties of a KEY_VALUE schema. Names of types are in capitals; `AUTO` takes the type that fits the
  * column.
  *
  * @param encoding
  *   `INLINE` or `SEPARATED`
  */
private[pulsarspark] final case class KeyValueChoice(
    keySchemaType: String = KeyValueChoice.Auto,
    valueSchemaType: String = KeyValueChoice.Auto,
    encoding: Option[String] = None
) {

  /** The first thing that was said and that the schema does not have. */
  def conflict(schema: KeyValueSchema): Option[String] = {
    val actual = if (schema.separated) "SEPARATED" else "INLINE"
    Seq(
      differs("the key", keySchemaType, schema.key.schemaType),
      differs("the value", valueSchemaType, schema.value.schemaType),
      encoding.filter(_ != actual).map(requested => s"its encoding is $actual, not $requested")
    ).flatten.headOption
  }

  def isGiven: Boolean = this != KeyValueChoice()

  private def differs(part: String, requested: String, actual: String) =
    Option.when(requested != KeyValueChoice.Auto && requested != actual)(s"$part is of type $actual, not $requested")
}

private[pulsarspark] object KeyValueChoice {
  private val Auto = "AUTO"

  /** Values of the options `keySchemaType`, `valueSchemaType` and `keyValueEncoding`, in any case. */
  def of(keySchemaType: String, valueSchemaType: String, encoding: Option[String]): KeyValueChoice =
    KeyValueChoice(upper(keySchemaType), upper(valueSchemaType), encoding.map(upper))

  private def upper(text: String) = text.toUpperCase(Locale.ROOT)
}
