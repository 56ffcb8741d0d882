import { Component } from 'react';
import Button, * as parts from './parts.mjs';

export default class extends Component {
  state = parts.initial();

  onPress = async () => {
    const { later } = await import('./later.mjs');
    later();
    this.setState({});
  };

  render() {
    return (
      <parts.Box>
        <Button onPress={this.onPress} />
      </parts.Box>
    );
  }
}
