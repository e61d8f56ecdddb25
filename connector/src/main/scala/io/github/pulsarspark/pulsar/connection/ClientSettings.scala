package io.github.pulsarspark.pulsar.connection

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.pulsar.client.impl.conf.{ClientConfigurationData, ConfigurationDataUtils, ProducerConfigurationData, ReaderConfigurationData}

import io.github.pulsarspark.errors.Conditions

/** The settings of the Pulsar client that `pulsar.client.*`, `pulsar.reader.*` and `pulsar.producer.*` reach, as the
  * client's own configuration classes have them.
  */
private[pulsarspark] object ClientSettings {

  private val mapper = ConfigurationDataUtils.create()

  private val classes: Map[String, Class[_]] = Map(
    "pulsar.client."   -> classOf[ClientConfigurationData],
    "pulsar.reader."   -> classOf[ReaderConfigurationData[_]],
    "pulsar.producer." -> classOf[ProducerConfigurationData]
  )

  /** Names of the settings under `prefix` that can be given as text, sorted. */
  def fields(prefix: String): Seq[String] = {
    val description = mapper.getSerializationConfig.introspect(mapper.constructType(classes(prefix)))
    description.findProperties().asScala.filter(p => p.hasSetter || p.hasField).map(_.getName).toSeq.sorted
  }

  /** Fails with the first setting whose value the client's class does not accept. */
  def check(prefix: String, settings: Map[String, String]): Unit = settings.toSeq.sortBy(_._1).foreach {
    case (name, value) =>
      try mapper.readValue(mapper.writeValueAsString(Map(name -> structured(value)).asJava), classes(prefix))
      catch {
        // the cause repeats the value, which may be a secret
        case NonFatal(_) =>
          throw Conditions.ClientSetting(option = prefix + name, expected = typeOf(prefix, name)).exception
      }
  }

  /** The settings in the form that the client's `loadConf` accepts. */
  def typed(prefix: String, settings: Map[String, String]): java.util.Map[String, Object] = {
    check(prefix, settings)
    settings.map { case (k, v) => k -> structured(v) }.asJava
  }

  /** Lists and maps are given as JSON, everything else is left to the client's own conversion from text. */
  private def structured(value: String): Object =
    if (value.trim.startsWith("{") || value.trim.startsWith("["))
      try new ObjectMapper().readValue(value, classOf[Object])
      catch { case NonFatal(_) => value }
    else value

  private def typeOf(prefix: String, name: String): String =
    mapper.getSerializationConfig
      .introspect(mapper.constructType(classes(prefix)))
      .findProperties()
      .asScala
      .find(_.getName == name)
      .fold("text")(_.getPrimaryType.getRawClass.getSimpleName)
}
